// lane_owner.hpp: a thread that has an engine_lane; what this room knows of a completion engine.
// SPDX-License-Identifier: MIT
//
// current_thread_slot() is the lane_owner of the thread, from enter() to leave().
#pragma once

#include "ready/engine_lane.hpp"
#include "ring/thread_slot.hpp"

namespace tandem::inline v0::io {

class lane_owner {
 public:
  lane_owner(const lane_owner&) = delete;
  lane_owner& operator=(const lane_owner&) = delete;

  /// Of the calling thread, or null.
  static lane_owner* current() noexcept { return static_cast<lane_owner*>(current_thread_slot()); }

  engine_lane& lane() noexcept { return lane_; }
  const engine_lane& lane() const noexcept { return lane_; }

 protected:
  /// @param sleep  of its thread; it is not used before the thread runs
  lane_owner(stealable_executor& shared, ring_sleep& sleep, unsigned index) noexcept
      : lane_(shared, sleep, index) {}
  ~lane_owner() = default;

  /// Its thread, at the begin and at the end of its loop.
  void enter() noexcept { set_current_thread_slot(this); }
  static void leave() noexcept { set_current_thread_slot(nullptr); }
  /// What current_thread_slot() is meanwhile.
  const void* slot() const noexcept { return this; }

 private:
  engine_lane lane_;
};

}  // namespace tandem::inline v0::io
