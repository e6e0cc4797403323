// batch.cpp: commands as bytes; and which commands a connection is spared.
// SPDX-License-Identifier: MIT
#include <tandem/io/redis/batch.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <tandem/io/redis/errors.hpp>

namespace tandem::inline v0::io::redis {
namespace {

using detail::manners;

struct rule {
  std::string_view command;
  manners allowed_on;  // shared: nowhere
  const char* instead;
};

constexpr const char* to_subscriber = "use redis::subscriber";
constexpr const char* to_transaction = "use client::transaction()";
constexpr const char* to_own = "use client::own_connection() or redis::optimistic()";
constexpr const char* nothing = "tandem's parser would not understand what comes then";

/// After some of these the answers would not match the commands any more; others change what those get
/// who share the connection.
constexpr std::array<rule, 19> rules{{
    {"SUBSCRIBE", manners::shared, to_subscriber},
    {"PSUBSCRIBE", manners::shared, to_subscriber},
    {"SSUBSCRIBE", manners::shared, to_subscriber},
    {"UNSUBSCRIBE", manners::shared, to_subscriber},
    {"PUNSUBSCRIBE", manners::shared, to_subscriber},
    {"SUNSUBSCRIBE", manners::shared, to_subscriber},
    {"MONITOR", manners::shared, nothing},
    {"SYNC", manners::shared, nothing},
    {"PSYNC", manners::shared, nothing},
    {"HELLO", manners::shared,
     "options::username and password are sent by AUTH; RESP3 is not spoken"},
    {"QUIT", manners::shared, "use client::close()"},
    {"RESET", manners::shared, "options are sent at each connection"},
    {"MULTI", manners::private_, to_transaction},
    {"EXEC", manners::private_, to_transaction},
    {"DISCARD", manners::private_, to_transaction},
    {"WATCH", manners::private_, to_own},
    {"UNWATCH", manners::private_, to_own},
    {"SELECT", manners::private_, "use options::database, or client::own_connection()"},
    {"AUTH", manners::private_, "use options::username and password"},
}};

constexpr char upper(char letter) noexcept {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

bool same(std::string_view given, std::string_view name) noexcept {
  return std::ranges::equal(given, name, {}, upper);
}

void refuse(std::string_view command, const char* instead) {
  throw error(errc::not_here, std::string(command) + ": " + instead);
}

/// A bit for each letter that one of those commands begins with; "A" is 65.
constexpr std::uint64_t first_letters = [] {
  std::uint64_t all = 0;
  for (const rule& each : rules)
    all |= std::uint64_t{1} << (static_cast<unsigned char>(each.command[0]) & 63U);
  return all;
}();

void check_words(std::span<const argument> words) {
  if (words.empty() || words.size() > std::size_t{std::numeric_limits<int>::max()}) {
    throw error(errc::bad_option, "a command has at least one word");
  }
}

void check_manners(std::span<const argument> words, manners kind) {
  const std::string_view name = words[0].text();
  if (words.size() > 1 && same(name, "CLIENT") && same(words[1].text(), "REPLY")) {
    refuse("CLIENT REPLY", nothing);
  }
  if (name.empty() ||
      (first_letters >> (static_cast<unsigned char>(upper(name[0])) & 63U) & 1U) == 0)
    return;
  for (const rule& each : rules) {
    if (each.command.size() != name.size() || !same(name, each.command)) continue;
    if (each.allowed_on == manners::private_ && kind == manners::private_) continue;
    refuse(each.command, each.instead);
  }
}

constexpr std::string_view line_end = "\r\n";
constexpr std::size_t most_digits = 20;
constexpr std::size_t most_head_bytes = 1 + most_digits + line_end.size();
/// A command that is so short is put together where nothing has to be allocated or checked.
constexpr std::size_t most_short_bytes = 512;

char* put(char* at, std::string_view text) noexcept {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

/// The length of a list ('*') or text ('$'), as it stands in front of it. @returns  behind it
char* put_head(char* at, char kind, std::size_t number) noexcept {
  *at++ = kind;
  if (number < 10) {
    *at++ = static_cast<char>('0' + number);
  } else {
    at = std::to_chars(at, at + most_digits, number).ptr;
  }
  return put(at, line_end);
}

void append_long_command(std::string& to, std::span<const argument> words, std::size_t room) {
  if (to.capacity() < to.size() + room) to.reserve(std::max(to.size() + room, 2 * to.capacity()));
  std::array<char, most_head_bytes> head;  // NOLINT: only what is put there is read
  to.append(head.data(), put_head(head.data(), '*', words.size()));
  for (const argument& each : words) {
    const std::string_view text = each.text();
    to.append(head.data(), put_head(head.data(), '$', text.size()));
    to += text;
    to += line_end;
  }
}

/// Appends a command: a list of texts, each behind its length. This half of the protocol is written
/// here and not by redisFormatCommandArgv(), whose sprintf() takes more than half of all
/// instructions of a short command.
void append_command(std::string& to, std::span<const argument> words) {
  std::size_t room = most_head_bytes;
  for (const argument& each : words) room += most_head_bytes + each.text().size() + line_end.size();
  if (room > most_short_bytes) {
    append_long_command(to, words, room);
    return;
  }
  std::array<char, most_short_bytes> bytes;  // NOLINT: only what is put there is read
  char* at = put_head(bytes.data(), '*', words.size());
  for (const argument& each : words) {
    const std::string_view text = each.text();
    at = put(put(put_head(at, '$', text.size()), text), line_end);
  }
  to.append(bytes.data(), at);
}

}  // namespace

argument::argument(std::span<const std::byte> bytes) noexcept
    : data_(reinterpret_cast<const char*>(bytes.data())), size_(bytes.size()) {}

argument::argument(double number) noexcept {
  const auto end = std::to_chars(digits_.data(), digits_.data() + digits_.size(), number);
  size_ = static_cast<std::size_t>(end.ptr - digits_.data());
}

void argument::write(std::int64_t number) noexcept {
  const auto end = std::to_chars(digits_.data(), digits_.data() + digits_.size(), number);
  size_ = static_cast<std::size_t>(end.ptr - digits_.data());
}

void argument::write(std::uint64_t number) noexcept {
  const auto end = std::to_chars(digits_.data(), digits_.data() + digits_.size(), number);
  size_ = static_cast<std::size_t>(end.ptr - digits_.data());
}

namespace detail {

formatted::formatted(std::span<const argument> words, manners kind)
    : formatted((check_words(words), check_manners(words, kind), words)) {}

formatted::formatted(std::span<const argument> words) { append_command(bytes_, words); }

}  // namespace detail

batch& batch::add_words(std::span<const argument> words) {
  check_words(words);
  check_manners(words, manners::shared);
  append_command(bytes_, words);
  ++count_;
  return *this;
}

void batch::clear() noexcept {
  bytes_.clear();
  count_ = 0;
}

}  // namespace tandem::inline v0::io::redis
