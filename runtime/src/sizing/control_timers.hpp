// control_timers.hpp: the timers of a pool's control, together. Step crew/timers.
// SPDX-License-Identifier: MIT
//
// Two of them run while somebody is awake: one says that a sample is due, the other one is the
// gate's. The third one ends the delay after which one more worker may take the place of a blocked
// one. Under the lock of the control, which outlives them.
#pragma once

#include <chrono>

#include "sizing/control_timer.hpp"

namespace tandem::inline v0::detail {

/// What they call, by the thread that drives the timers, without the lock.
class timed_control {
 public:
  virtual void sample_is_due() noexcept = 0;
  virtual void gate_is_due() noexcept = 0;
  virtual void delay_is_over() noexcept = 0;

 protected:
  ~timed_control() = default;
};

class control_timers {
 public:
  using clock = std::chrono::steady_clock;

  control_timers(timed_control& called, tandem::runtime& clock_of) noexcept;

  /// Both that run while somebody is awake; one that waits already goes on.
  void run(clock::duration until_gate, clock::duration until_sample) noexcept;
  /// False for 10 ms after are_driven() has said no.
  bool may_run(clock::time_point now) const noexcept { return now >= next_attempt_; }
  /// Whether the runtime has a thread for them, or gets one now.
  bool are_driven(clock::time_point now) noexcept;
  /// None of them waits any more, but for one that is about to call.
  void call_off() noexcept;
  /// How many are armed.
  unsigned armed() const noexcept {
    return (sample.is_armed() ? 1U : 0U) + (gate.is_armed() ? 1U : 0U) +
           (delay.is_armed() ? 1U : 0U);
  }
  /// For good. One that fires just now still calls.
  void end() noexcept;

  control_timer sample;  // waits: it is armed, or workers are asked
  control_timer gate;
  control_timer delay;

 private:
  tandem::runtime& clock_of_;
  clock::time_point next_attempt_{};  // to have a thread for them
};

}  // namespace tandem::inline v0::detail
