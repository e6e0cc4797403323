// idle_trim.hpp: when a completion thread that sleeps gives back the memory of frames.
// SPDX-License-Identifier: MIT
//
// Protocol trim: runtime/src/frames/README.md, "After a burst".
#pragma once

#include <chrono>
#include <cstdint>
#include <tandem/detail/frame_idle.hpp>
#include <tandem/detail/timer_service.hpp>

namespace tandem::inline v0::io {

/// The owner's.
class idle_trim {
 public:
  using clock = std::chrono::steady_clock;

  /// Before it waits. Once for each time that it has run something: that others are busy must not
  /// wake it again and again.
  ///
  /// @param segments  how many it has run so far
  /// @param anyway    it wakes once though there is nothing to give back: for deadlocks/idle
  /// @returns         until when it may wait
  clock::time_point lie_down(std::uint64_t segments, const tandem::detail::timer_service& timers,
                             bool anyway = false) noexcept {
    if (segments != lay_down_at_) {
      lay_down_at_ = segments;
      if ((anyway || tandem::detail::has_frames_to_trim()) && !timers.is_virtual()) {
        spell_.begin(clock::now().time_since_epoch().count(), anyway);
      }
    }
    return clock::time_point(clock::duration(spell_.deadline_ns()));
  }
  /// After it has waited. @returns whether the spell is over, and it lies for good from now on
  bool get_up() noexcept {
    if (spell_.deadline_ns() == tandem::detail::frame_idle::never) return false;
    if (!spell_.is_due(clock::now().time_since_epoch().count())) return false;
    spell_.give_back(true);
    return spell_.deadline_ns() == tandem::detail::frame_idle::never;
  }

 private:
  tandem::detail::frame_idle spell_;
  std::uint64_t lay_down_at_ = 0;  // how many segments it had run when that spell began
};

}  // namespace tandem::inline v0::io
