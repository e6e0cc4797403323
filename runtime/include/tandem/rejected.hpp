// rejected.hpp: what a worker pool says about a submission that it does not take.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

#include <tandem/config.hpp>
#include <tandem/pool_state.hpp>

namespace tandem::inline v0 {

/// Why a pool does not take a submission.
enum class rejection_cause : std::uint8_t {
  full,       ///< the queue has no place, and no thread may be added
  shut_down,  ///< the pool refuses all
};

/// What kept the policy from dealing with a submission to a full pool, which was refused as by
/// abort then.
enum class policy_obstacle : std::uint8_t {
  none,            ///< refusing is what the policy, or the handler, wants
  other_executor,  ///< caller_runs: the caller is on a thread of another executor, which may not be kept
  drives_timers,  ///< caller_runs: the caller's thread drives timers, which would be late
  too_deep,       ///< caller_runs: eight such tasks lie on the caller's stack already
  no_threads,  ///< caller_runs: from outside a runtime without threads, whose owner runs its tasks
  no_oldest,   ///< discard_oldest, chosen by a handler: only a bounded queue has one to drop
};

/// For people: "caller_runs: eight submissions deep", ...; "" for none.
TANDEM_API const char* to_string(policy_obstacle what) noexcept;

/// A submission that was not taken, and the pool at that moment.
class TANDEM_API rejection {
 public:
  rejection(rejection_cause cause, pool_state state, const std::source_location& submitted_at,
            std::string pool_name);

  rejection_cause cause;
  pool_state state;
  std::source_location submitted_at;
  std::string pool_name;
  unsigned threads = 0;
  unsigned max_threads = 0;
  std::size_t queued = 0;   ///< submissions that wait for a worker
  std::size_t waiting = 0;  ///< tasks that wait in submit_when_free()
  int priority = 0;
  /// In what is thrown. A rejection handler is asked before anything is tried: none.
  policy_obstacle obstacle = policy_obstacle::none;
};

/// One line for people: the task, the pool, its state, what is full, and what kept the policy from
/// helping.
TANDEM_API std::string to_string(const rejection& what);

/// A submission was refused. The task has not started, and is gone.
///
///     try {
///       pool.submit(work(1)).detach();
///     } catch (const tandem::rejected& why) {
///       std::printf("%s\n", why.what());
///     }
class TANDEM_API rejected : public std::runtime_error {
 public:
  explicit rejected(const rejection& what);
  rejected(const rejected&) = default;
  rejected& operator=(const rejected&) = default;
  ~rejected() override;

  rejection_cause cause() const noexcept { return cause_; }
  /// Of the pool, when it refused.
  pool_state state() const noexcept { return state_; }
  const std::source_location& submitted_at() const noexcept { return submitted_at_; }
  /// Why the task was refused though the policy is not to refuse it.
  policy_obstacle obstacle() const noexcept { return obstacle_; }

 private:
  rejection_cause cause_;
  pool_state state_;
  policy_obstacle obstacle_;
  std::source_location submitted_at_;
};

}  // namespace tandem::inline v0
