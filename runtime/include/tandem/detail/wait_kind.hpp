// wait_kind.hpp: what a wait is, for whoever stops it and for people who ask what a task waits for.
// SPDX-License-Identifier: MIT
//
// Each kind of wait has one constant description, and each wait a pointer to it, in the place where
// it would else have a pointer to the function that stops it: so a wait says what it is at no cost.
// The words are read only by a look (runtime/src/insight/README.md), which holds the wait meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class environment;
class stop_waiter;

namespace detail {

class promise_base;

/// Who can end a wait: what a report of a deadlock goes by.
enum class wait_end : std::uint8_t {
  anybody,  ///< whoever knows the object, a thread outside of the runtime too: events, channels
  task,     ///< the task that is named: locks, joins
  time,     ///< a timer
  system,   ///< I/O, a thread that blocks, foreign code: something is out
};

/// What a wait says about itself. Filled in while the wait is held; no pointer in it is followed
/// afterwards, but for texts that live as long as the program.
struct wait_note {
  static constexpr std::int64_t no_time = INT64_MIN;

  const char* verb = "waits for";  ///< in front of the words
  const char* word = "";           ///< "an event"; never null
  const void* object = nullptr;    ///< what it waits for; for people: an address
  wait_end end = wait_end::anybody;
  std::uint64_t task = 0;  ///< id of the environment that is to end it; 0: none is known
  /// Set where the task is not bound to end it: how it has to do with it ("last received from by").
  const char* task_role = "";

  int thread = -1;                  ///< of I/O: number of its completion thread; -1: of none
  std::int64_t until_ns = no_time;  ///< by the steady clock
  std::array<char, 104> more{};     ///< the rest of the sentence; "" if there is none

  /// Writes into `more`, as printf() does.
  TANDEM_API void say(const char* format, ...) noexcept;
};

class wait_kind {
 public:
  /// See stop_waiter.
  using stop_function = bool (*)(stop_waiter&) noexcept;
  using note_function = void (*)(const stop_waiter&, wait_note&) noexcept;
  using frame_function = const promise_base* (*)(const stop_waiter&) noexcept;

  constexpr wait_kind(stop_function stop, const char* what, wait_end by = wait_end::anybody,
                      note_function describes = nullptr,
                      frame_function of_listener = nullptr) noexcept
      : on_stop(stop), word(what), end(by), describe(describes), frame(of_listener) {}

  stop_function on_stop;
  const char* word;
  wait_end end;
  note_function describe;  ///< null: nothing more is known
  frame_function frame;    ///< of a listener that is a wait: the frame that waits; else null
};

}  // namespace detail
}  // namespace tandem::inline v0
