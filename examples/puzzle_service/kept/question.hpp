// question.hpp: what a request asks, however its JSON was written.
// SPDX-License-Identifier: MIT
//
// The canonical form spells out what a request may leave to defaults (solver, metric, goal, board,
// box, seed), in one order and one spelling, and leaves out what changes no answer that is
// complete: limits and threads. It is a request itself: POST /solve takes it.
#pragma once

#include <string>
#include <string_view>

#include "kept_answer.hpp"
#include "solve.hpp"

namespace service {

class question {
 public:
  question() = default;
  /// @param request  a valid one
  explicit question(const puzzles::solve_request& request);

  std::string text;  ///< the canonical form, as JSON
  std::string key;   ///< of that text

  /// A key is not its text: two texts may have one key, if somebody looks for them.
  bool is_answered_by(const kept_answer& answer) const noexcept {
    return answer.key == key && answer.request == text;
  }
};

/// 32 hexadecimal digits.
std::string key_of(std::string_view text);
bool is_key(std::string_view text) noexcept;

/// A search came to its end, by a solution or by having seen everything: the same search would
/// come to the same end again.
inline bool is_complete(const puzzles::solve_answer& answer) noexcept {
  return !answer.hit_limit();
}

/// @param answer      a complete one, to `request`, which is `asked`
/// @param answer_json as it is to be kept
kept_answer made_to_keep(const question& asked, const puzzles::solve_request& request,
                         const puzzles::solve_answer& answer, std::string answer_json);

}  // namespace service
