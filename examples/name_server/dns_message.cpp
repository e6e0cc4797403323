// dns_message.cpp: reading and writing messages of DNS.
// SPDX-License-Identifier: MIT
#include "dns_message.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

namespace dns {

namespace {

namespace io = tandem::io;

constexpr std::size_t header_bytes = 12;
constexpr unsigned answer_bit = 0x8000;
constexpr unsigned authoritative_bit = 0x0400;
constexpr unsigned cut_bit = 0x0200;
constexpr unsigned recursion_bit = 0x0100;
constexpr unsigned operation_bits = 0x7800;
constexpr std::size_t most_of_label = 63;
constexpr std::size_t most_of_name = 253;
constexpr std::uint32_t seconds_to_live = 60;

/// Reads from the front; at the end of the bytes it fails, and stays failed.
class reader {
 public:
  explicit reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  std::size_t number(std::size_t width) {
    std::size_t value = 0;
    for (const std::byte each : take(width))
      value = value << 8 | std::to_integer<std::size_t>(each);
    return value;
  }
  std::span<const std::byte> take(std::size_t count) {
    if (failed_ || count > bytes_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  /// A name that is not compressed, as in questions.
  std::string name() {
    std::string all;
    while (const std::size_t length = number(1)) {
      if (length > most_of_label || all.size() + length > most_of_name) failed_ = true;
      if (!all.empty()) all += '.';
      for (const std::byte each : take(length)) {
        all += static_cast<char>(std::tolower(std::to_integer<int>(each)));
      }
    }
    return all;
  }
  /// One that may end in a reference to an earlier one.
  void skip_name() {
    while (const std::size_t length = number(1)) {
      if (length > most_of_label) {
        (void)take(1);
        return;
      }
      (void)take(length);
    }
  }

 private:
  std::span<const std::byte> bytes_;
  bool failed_ = false;
};

std::size_t size_of_address(std::uint16_t type) { return type == type_a ? 4 : 16; }

bool is_of_type(const io::endpoint& address, std::uint16_t type) {
  return address.family() == io::address_family::ipv4 ? type == type_a : type == type_aaaa;
}

}  // namespace

std::optional<question> parse(std::span<const std::byte> message) {
  reader from(message);
  question asked;
  asked.id = static_cast<std::uint16_t>(from.number(2));
  const std::size_t flags = from.number(2);
  const std::size_t questions = from.number(2);
  (void)from.take(6);
  if (from.failed() || (flags & answer_bit) != 0) return std::nullopt;
  asked.wants_recursion = (flags & recursion_bit) != 0;
  if ((flags & operation_bits) != 0) {
    asked.problem = code::not_implemented;
    return asked;
  }
  std::string name = from.name();
  asked.type = static_cast<std::uint16_t>(from.number(2));
  asked.of_class = static_cast<std::uint16_t>(from.number(2));
  if (questions != 1 || from.failed()) {
    asked.problem = code::malformed;
  } else {
    asked.name = std::move(name);
  }
  return asked;
}

void message::put(std::size_t value, std::size_t width) {
  for (std::size_t i = width; i != 0; --i) {
    bytes_[size_++] = static_cast<std::byte>(value >> 8 * (i - 1) & 0xff);
  }
}

void message::put_name(std::string_view name) {
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    put(label.size(), 1);
    for (const char each : label) put(static_cast<unsigned char>(each), 1);
    name.remove_prefix((std::min)(name.size(), label.size() + 1));
  }
  put(0, 1);
}

message message::of_question(std::uint16_t id, std::string_view name, std::uint16_t type) {
  message made;
  made.put(id, 2);
  made.put(recursion_bit, 2);
  made.put(1, 2);
  for (int i = 0; i < 3; ++i) made.put(0, 2);
  made.put_name(name.substr(0, most_of_name));
  made.put(type, 2);
  made.put(class_internet, 2);
  return made;
}

message message::of_answer(const question& asked, code result,
                           std::span<const io::endpoint> addresses) {
  message made;
  made.put(asked.id, 2);
  made.put(answer_bit | authoritative_bit | (asked.wants_recursion ? recursion_bit : 0U) |
               static_cast<unsigned>(result),
           2);
  const bool repeats = asked.problem == code::good;
  made.put(repeats ? 1 : 0, 2);
  for (int i = 0; i < 3; ++i) made.put(0, 2);
  if (!repeats) return made;
  made.put_name(asked.name);
  made.put(asked.type, 2);
  made.put(asked.of_class, 2);
  std::uint8_t count = 0;
  for (const io::endpoint& each : addresses) {
    if (!is_of_type(each, asked.type)) continue;
    const std::size_t length = size_of_address(asked.type);
    if (made.size_ + 12 + length > most_bytes ||
        count == std::numeric_limits<std::uint8_t>::max()) {
      made.bytes_[2] |= static_cast<std::byte>(cut_bit >> 8);
      break;
    }
    made.put(0xc000 + header_bytes, 2);  // the name that was asked for
    made.put(asked.type, 2);
    made.put(class_internet, 2);
    made.put(seconds_to_live, 4);
    made.put(length, 2);
    for (std::size_t i = 0; i < length; ++i) made.put(each.bytes()[i], 1);
    ++count;
  }
  made.bytes_[7] = static_cast<std::byte>(count);
  return made;
}

std::optional<answer> parse_answer(std::span<const std::byte> message) {
  reader from(message);
  answer got;
  got.id = static_cast<std::uint16_t>(from.number(2));
  const std::size_t flags = from.number(2);
  const std::size_t questions = from.number(2);
  const std::size_t answers = from.number(2);
  (void)from.take(4);
  got.result = static_cast<code>(flags & 0xf);
  for (std::size_t i = 0; i < questions && !from.failed(); ++i) {
    from.skip_name();
    (void)from.take(4);
  }
  for (std::size_t i = 0; i < answers && !from.failed(); ++i) {
    from.skip_name();
    const std::size_t type = from.number(2);
    (void)from.take(6);
    const auto data = from.take(from.number(2));
    const bool is_v4 = type == type_a && data.size() == 4;
    if (!is_v4 && (type != type_aaaa || data.size() != 16)) continue;
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t k = 0; k < data.size(); ++k) bytes[k] = std::to_integer<std::uint8_t>(data[k]);
    got.addresses.emplace_back(is_v4 ? io::address_family::ipv4 : io::address_family::ipv6, bytes,
                               std::uint16_t{0});
  }
  if (from.failed() || (flags & answer_bit) == 0) return std::nullopt;
  return got;
}

}  // namespace dns
