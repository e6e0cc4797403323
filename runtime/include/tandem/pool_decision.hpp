// pool_decision.hpp: what a pool decided about its threads, when, and why.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// What a decision did.
enum class pool_action : unsigned char {
  inject,      ///< a thread came
  retire,      ///< a thread left
  change_goal  ///< as many workers as the new goal may run items; threads come and go later
};

/// How many actions there are.
inline constexpr std::size_t pool_action_count =
    static_cast<std::size_t>(pool_action::change_goal) + 1;

/// Why.
enum class decision_reason : unsigned char {
  work,        ///< an item was posted, and the pool may have another thread for it
  queue_full,  ///< a submission found the queue full, and may add a thread (growth_order::queue_first)
  warm_up,     ///< too few samples yet; the goal follows a wave of one thread
  climb,       ///< a move of the hill climbing, its wave included
  hold,        ///< no wave is under way: nothing could be learnt from the samples
  starvation,      ///< work waits, and nothing has been dequeued for too long
  blocking,        ///< workers are, or no longer are, inside a blocking_region
  outside_change,  ///< somebody else changed the number, or its limits
  keep_alive,      ///< idle for too long
  saturated,       ///< all threads of a completion pool have been busy for too long
  stalled,         ///< a thread of a completion pool does not come back to its ring
  idle,            ///< fewer threads of a completion pool would have done for long enough
  connections      ///< more connections than threads of a completion pool, whose tasks live there
};

/// How many reasons there are.
inline constexpr std::size_t decision_reason_count =
    static_cast<std::size_t>(decision_reason::connections) + 1;

/// How often each action was taken for each reason: counts[action][reason].
using decision_counts =
    std::array<std::array<std::uint64_t, decision_reason_count>, pool_action_count>;

/// "inject", "retire" or "goal".
TANDEM_API const char* to_string(pool_action action) noexcept;
/// The name of the enumerator.
TANDEM_API const char* to_string(decision_reason reason) noexcept;

/// One decision of a pool.
///
///     if (decision.action != tandem::pool_action::change_goal) {
///       std::puts(to_string(decision).c_str());  // inject +1 n=5 reason=starvation t=1.52s
///     }
class TANDEM_API pool_decision {
 public:
  /// Nothing is decided yet: a place to be filled.
  pool_decision() noexcept = default;
  pool_decision(std::chrono::nanoseconds since_start, pool_action what, decision_reason why,
                unsigned goal_before, unsigned goal_after, unsigned threads_after,
                double completions_per_second, double cpu_share) noexcept
      : when(since_start),
        throughput(completions_per_second),
        cpu(cpu_share),
        old_goal(goal_before),
        new_goal(goal_after),
        threads(threads_after),
        action(what),
        reason(why) {}

  /// Since the pool was made, by the clock of its runtime.
  std::chrono::nanoseconds when{};
  double throughput = 0;  ///< completions per second in the last sample
  /// Share of the usable CPUs that the process used, 0 to 1; of a completion pool: the mean share
  /// of the time that its threads were busy.
  double cpu = 0;
  unsigned old_goal = 0;
  unsigned new_goal = 0;  ///< workers that may run items; equal to the old one if it did not change
  unsigned threads = 0;   ///< after the decision
  pool_action action = pool_action::change_goal;
  decision_reason reason = decision_reason::work;

  friend bool operator==(const pool_decision&, const pool_decision&) = default;
};

/// One line: "inject +1 n=5 reason=starvation t=1.52s", "retire -1 n=4 reason=keep_alive t=21.00s"
/// or "goal 4->7 n=5 reason=climb t=6.31s".
TANDEM_API std::string to_string(const pool_decision& decision);

}  // namespace tandem::inline v0
