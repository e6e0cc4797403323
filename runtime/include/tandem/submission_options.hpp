// submission_options.hpp: where submissions to a worker pool wait, and what becomes of one too many.
// SPDX-License-Identifier: MIT
//
// They bound worker_pool::submit() and submit_when_free() only. What is spawned, resumed, forked or
// posted is work that somebody admitted already, and is never refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include <tandem/config.hpp>
#include <tandem/rejected.hpp>

namespace tandem::inline v0 {

enum class queue_kind : std::uint8_t {
  unbounded,   ///< oldest first, no limit
  bounded,     ///< oldest first, at most `capacity`
  priority,    ///< highest priority first, oldest first among equals, at most `capacity`
  rendezvous,  ///< no queue: a worker that waits for work takes it, or nobody does
};

/// What becomes of a submission that is not taken. "Dropped": it never runs, and its handle ends as
/// cancelled (stop_reason::discarded).
///
/// With discard_oldest no place becomes free: the head's goes to the submission that dropped it. So
/// whoever waits in submit_when_free() is as far from a place as before, and gets the next one that
/// a worker frees; but what comes by submit() meanwhile enters the queue, and starts, before it.
/// The other way round, a place for whoever waits, would need one drop more for each of them, down
/// to tasks that had just been let in.
enum class saturation_policy : std::uint8_t {
  abort,        ///< submit() throws `rejected`
  caller_runs,  ///< it runs inside submit(), up to its first wait; dropped after shutdown; see submit()
  discard,      ///< dropped
  discard_oldest,  ///< the head of the queue is dropped, and it takes that place; dropped after shutdown
  handler,         ///< `on_rejected` chooses one of those above
  suspend,         ///< as abort; whoever can wait for a place awaits submit_when_free()
};

/// The name of the enumerator.
TANDEM_API const char* to_string(queue_kind kind) noexcept;
/// The name of the enumerator.
TANDEM_API const char* to_string(saturation_policy policy) noexcept;

/// Part of pool_options.
///
///     tandem::runtime_options options;
///     options.submissions.queue = tandem::queue_kind::bounded;
///     options.submissions.capacity = 1000;
///     options.submissions.when_saturated = tandem::saturation_policy::caller_runs;
class TANDEM_API submission_options {
 public:
  static constexpr std::size_t unlimited = (std::numeric_limits<std::size_t>::max)();
  /// Called on the submitter's thread, without locks. `handler`, `suspend` or anything else that is
  /// no policy as its answer means abort. What it throws comes out of submit(), and the task is
  /// gone.
  using rejection_handler = std::function<saturation_policy(const rejection&)>;

  submission_options();

  queue_kind queue = queue_kind::unbounded;
  /// How many may wait, at least 1; for bounded and priority queues. A bounded one needs it.
  std::size_t capacity = unlimited;
  saturation_policy when_saturated = saturation_policy::abort;
  /// Needed by saturation_policy::handler.
  rejection_handler on_rejected;

  /// @throws  std::invalid_argument naming the option and what it may be
  void validate() const;
};

}  // namespace tandem::inline v0
