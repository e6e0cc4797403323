// dns_message.hpp: as much of DNS as a small name server needs: one question in, its answer out.
// SPDX-License-Identifier: MIT
//
// RFC 1035, sections 4.1 and 4.2.1; RFC 3596 for IPv6.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/endpoint.hpp>
#include <vector>

namespace dns {

/// How an answer begins.
enum class code : std::uint8_t {
  good = 0,
  malformed = 1,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5,
};

constexpr std::uint16_t type_a = 1;
constexpr std::uint16_t type_aaaa = 28;
constexpr std::uint16_t class_internet = 1;
/// A message over UDP is no longer, unless both sides agree on more.
constexpr std::size_t most_bytes = 512;

/// What was asked, or why it cannot be answered.
class question {
 public:
  question() = default;
  std::uint16_t id = 0;
  bool wants_recursion = false;
  code problem = code::good;  ///< else the rest is empty
  std::string name;           ///< in lower case, without the last dot
  std::uint16_t type = 0;
  std::uint16_t of_class = 0;
};

/// @returns  nothing if no answer may be sent: too short to have a number, or an answer itself (two
///           servers would go on talking to each other)
std::optional<question> parse(std::span<const std::byte> message);

/// A message, byte by byte, with names that are not compressed.
class message {
 public:
  static message of_question(std::uint16_t id, std::string_view name, std::uint16_t type);
  /// Addresses of another type than was asked for are left out, and what does not fit.
  static message of_answer(const question& asked, code result,
                           std::span<const tandem::io::endpoint> addresses);

  std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }

 private:
  void put(std::size_t value, std::size_t width);
  void put_name(std::string_view name);

  std::array<std::byte, most_bytes> bytes_{};
  std::size_t size_ = 0;
};

/// Of an answer, for who has asked.
class answer {
 public:
  answer() = default;
  std::uint16_t id = 0;
  code result = code::good;
  std::vector<tandem::io::endpoint> addresses;  ///< with port 0
};

/// @returns  nothing if it is none
std::optional<answer> parse_answer(std::span<const std::byte> message);

}  // namespace dns
