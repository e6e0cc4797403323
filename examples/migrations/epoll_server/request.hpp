// request.hpp: the lines that the key/value service understands. What a migration need not touch: both servers have it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace migrations {

inline constexpr std::size_t longest_line = 1024;
inline constexpr std::size_t most_answers =
    16 * 1024;  ///< bytes that are collected before they are sent

enum class verb : std::uint8_t { set, get, del, count, wait, bad };

/// `SET key value`, `GET key`, `DEL key`, `COUNT`, `WAIT key`; a key has no spaces.
class request {
 public:
  explicit request(std::string_view line) {
    const std::string_view name = word(line);
    if (name == "COUNT" && line.empty()) {
      kind = verb::count;
      return;
    }
    key = word(line);
    value = line;
    if (key.empty()) return;
    if (name == "SET" && !value.empty()) kind = verb::set;
    if (!value.empty()) return;
    if (name == "GET") kind = verb::get;
    if (name == "DEL") kind = verb::del;
    if (name == "WAIT") kind = verb::wait;
  }

  verb kind = verb::bad;
  std::string_view key, value;

 private:
  static std::string_view word(std::string_view& rest) {
    const std::string_view first = rest.substr(0, rest.find(' '));
    rest.remove_prefix(first.size() < rest.size() ? first.size() + 1 : first.size());
    return first;
  }
};

}  // namespace migrations
