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
struct outcome_base;

/// One constant for each kind. `describe` and `waiting` are called by a look, which keeps the
/// environment alive, and holds the lock of its stop state.
struct environment_kind {
  using note_function = void (*)(const environment&, wait_note&) noexcept;
  using frame_function = const promise_base* (*)(const environment&) noexcept;
  using failure_function = void (*)(const environment&, outcome_base& room) noexcept;
  using linked_function = void (*)(const environment&) noexcept;
  using asked_function = bool (*)(const environment&) noexcept;

  constexpr environment_kind(const char* what, bool is_of_a_task = false,
                             note_function describes = nullptr, frame_function of_waiting = nullptr,
                             failure_function on_failed = nullptr,
                             linked_function on_linked = nullptr,
                             asked_function on_asked = nullptr) noexcept
      : word(what),
        is_task(is_of_a_task),
        describe(describes),
        waiting(of_waiting),
        failed(on_failed),
        linked(on_linked),
        asked(on_asked) {}

  const char* word;        ///< "with_timeout"
  bool is_task;            ///< of a spawned task; else of a part of one
  note_function describe;  ///< null: nothing more is known
  /// The frame that waits until no child is left below the environment, if one waits so; only
  /// called while there is a child.
  frame_function waiting;
  /// A frame whose link says so (promise_base::fails_into_environment) has thrown, and has put that
  /// into its room. Called by the frame, which has not ended.
  failure_function failed;
  /// stopping/tell. The first below it waits. Called by that one, outside of all locks, if the
  /// environment was linked late.
  linked_function linked;
  /// stopping/tell. There if `linked` is: somebody below asks whether it has been stopped before
  /// anybody has waited. @returns whether it is to be linked
  asked_function asked;
};

/// A mark that a look has left in a list of children: nobody's environment.
TANDEM_API extern const environment_kind kind_of_mark;

}  // namespace detail
}  // namespace tandem::inline v0
