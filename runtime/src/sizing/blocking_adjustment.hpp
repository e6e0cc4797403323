// blocking_adjustment.hpp: how many workers replace those inside a blocking_region, and how fast.
// SPDX-License-Identifier: MIT
//
// A worker that says it is going to block is replaced: at once while there are few, then one by
// one, the slower the more there are, so that a burst of blocking calls does not make a burst of
// threads. What has been added goes when the regions end. Protocol regions:
// runtime/src/sizing/README.md.
#pragma once

#include <algorithm>
#include <chrono>

#include <tandem/adaptive_options.hpp>
#include <tandem/export.hpp>

namespace tandem::inline v0::detail {

/// The pool as the adjustment finds it.
class blocking_reading {
 public:
  blocking_reading(unsigned blocked_workers, unsigned present_goal, unsigned min_goal,
                   unsigned max_goal, unsigned cpu_count) noexcept
      : blocked(blocked_workers),
        goal(present_goal),
        min(min_goal),
        max(max_goal),
        cpus(cpu_count) {}

  unsigned blocked;  ///< workers inside a blocking_region
  unsigned goal;
  unsigned min;
  unsigned max;
  unsigned cpus;
  unsigned existing = 0;       ///< threads, idle ones included: those cost nothing to use
  bool delay_elapsed = false;  ///< the delay of the last outcome is over
};

/// What to do.
class blocking_outcome {
 public:
  unsigned goal = 0;
  /// When to ask again, with delay_elapsed set; 0: not before a worker blocks or unblocks.
  std::chrono::nanoseconds delay{};
};

/// Guarded by whatever guards the goal's change.
class TANDEM_API blocking_adjustment {
 public:
  explicit blocking_adjustment(const adaptive_options& options) noexcept;

  /// Other constants; what has been added stays known.
  void set_options(const adaptive_options& options) noexcept { options_ = options; }

  blocking_outcome adjust(const blocking_reading& reading) noexcept;
  /// regions/take_back. Somebody else has taken workers away: what is no longer there is not to be
  /// taken again.
  void lowered_to(unsigned goal, unsigned min) noexcept {
    added_ = std::min(added_, goal > min ? goal - min : 0);
  }

  /// Before one more than `goal` workers; 0: at once.
  static std::chrono::nanoseconds delay(const adaptive_options& options, unsigned goal,
                                        unsigned min, unsigned max, unsigned cpus) noexcept;
  /// How many have been added that have not been taken back.
  unsigned added() const noexcept { return added_; }

 private:
  adaptive_options options_;
  unsigned added_ = 0;
};

}  // namespace tandem::inline v0::detail
