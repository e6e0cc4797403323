// words.hpp: what both chat servers have in common: sizes, names, and what is said.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace migrations {

inline constexpr std::size_t longest_line = 512;
inline constexpr std::size_t longest_history = 20;

/// What is said to many is kept once.
using message = std::shared_ptr<const std::string>;
inline message say(std::string text) {
  return std::make_shared<const std::string>(std::move(text) + "\n");
}

inline bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 16 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

/// `word argument`: NICK, SAY, WHO, QUIT.
class command {
 public:
  explicit command(std::string_view line) : word(line.substr(0, line.find(' '))) {
    if (word.size() < line.size()) argument = line.substr(word.size() + 1);
  }
  bool is(std::string_view name) const { return word == name && argument.empty(); }

  std::string_view word, argument;
};

}  // namespace migrations
