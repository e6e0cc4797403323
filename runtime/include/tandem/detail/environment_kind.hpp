// environment_kind.hpp: what an environment surrounds, for people who look at a tree of tasks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <tandem/config.hpp>
#include <tandem/detail/wait_kind.hpp>

namespace tandem::inline v0 {

class environment;

namespace detail {

class promise_base;

/// One constant for each kind. All but the word are called by a look, which keeps the environment
/// alive, and holds the lock of its stop state.
struct environment_kind {
  using note_function = void (*)(const environment&, wait_note&) noexcept;
  using frame_function = const promise_base* (*)(const environment&) noexcept;

  constexpr environment_kind(const char* what, bool is_of_a_task = false,
                             note_function describes = nullptr,
                             frame_function of_waiting = nullptr) noexcept
      : word(what), is_task(is_of_a_task), describe(describes), waiting(of_waiting) {}

  const char* word;        ///< "with_timeout"
  bool is_task;            ///< of a spawned task; else of a part of one
  note_function describe;  ///< null: nothing more is known
  /// The frame that waits until no child is left below the environment, if one waits so; only
  /// called while there is a child.
  frame_function waiting;
};

/// A mark that a look has left in a list of children: nobody's environment.
TANDEM_API extern const environment_kind kind_of_mark;

}  // namespace detail
}  // namespace tandem::inline v0
