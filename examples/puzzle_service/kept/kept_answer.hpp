// kept_answer.hpp: a question that was answered, and its answer, as they are kept.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace service {

/// What a list shows of it.
class kept_entry {
 public:
  kept_entry() = default;

  std::string key;     ///< 32 hexadecimal digits: the same question has the same one
  std::string puzzle;  ///< its kind: "klotski"
  std::string title;   ///< the question in some words
  std::string result;  ///< the answer in fewer: "116 steps"
  std::optional<std::uint64_t> moves;
  std::uint64_t nodes = 0;
  double milliseconds = 0;     ///< of the search
  std::int64_t solved_at = 0;  ///< in seconds since 1970, UTC
};

class kept_answer : public kept_entry {
 public:
  kept_answer() = default;

  std::string request;  ///< JSON, in its canonical form (question.hpp)
  std::string answer;   ///< JSON: puzzles::to_json and "outcome"

  std::size_t size_bytes() const noexcept {
    return sizeof(kept_answer) + key.size() + puzzle.size() + title.size() + result.size() +
           request.size() + answer.size();
  }
};

/// Shared by whoever has to do with it: texts may be long.
using known_answer = std::shared_ptr<const kept_answer>;

/// Which part of the list is wanted.
class kept_search {
 public:
  kept_search() = default;

  std::vector<std::string> words;  ///< in small letters; all of them have to be somewhere
  std::uint64_t offset = 0;
  std::uint64_t count = 20;

  static constexpr std::size_t most_words = 6;
};

/// The newest first.
class kept_page {
 public:
  kept_page() = default;

  std::uint64_t total = 0;  ///< that match
  std::vector<kept_entry> entries;
};

/// What a search looks at: kind, title and result, in small letters.
std::string words_of(const kept_entry& entry);

}  // namespace service
