// worker_pool.hpp: the work-stealing pool for computation.
// SPDX-License-Identifier: MIT
//
// Each worker has two lanes (D9): a LIFO deque for forked children and a FIFO with one next slot for
// everything else; an injection queue takes what comes from outside. Idle workers steal from the old
// end, then park on a LIFO stack. Protocols: runtime/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tandem/executor.hpp>
#include <tandem/pool_decision.hpp>
#include <tandem/pool_options.hpp>

namespace tandem::inline v0 {

namespace detail {
class driven_loop;
}

/// Counts of a worker pool at about one moment; each is exact, together they need not fit.
class worker_pool_stats {
 public:
  worker_pool_stats() noexcept = default;

  unsigned min_threads = 0;
  unsigned max_threads = 0;
  unsigned threads = 0;      ///< started and alive
  unsigned goal = 0;         ///< how many the controller lets run at once
  unsigned idle = 0;         ///< parked
  unsigned searching = 0;    ///< looking for work
  unsigned blocked = 0;      ///< inside a blocking_region
  std::size_t queued = 0;    ///< in the injection queue and in all lanes
  std::uint64_t items = 0;   ///< jobs run, forked children that nobody stole not counted
  std::uint64_t steals = 0;  ///< items taken from other workers
  std::uint64_t parks = 0;
  std::uint64_t wakes = 0;
  std::uint64_t injected = 0;  ///< items that came from outside
};

/// Worker threads with work stealing. Part of a runtime; not made on its own.
///
/// @thread_safety  all members from any thread
class TANDEM_API worker_pool final : public executor {
 public:
  void post(job* item, post_kind kind = post_kind::resume) noexcept override;             // NOLINT
  void post_batch(job_list items, post_kind kind = post_kind::resume) noexcept override;  // NOLINT
  bool is_current() const noexcept override;
  runtime* owner() const noexcept override;
  std::string_view name() const noexcept override;

  worker_pool_stats stats() const noexcept;
  /// How many workers it may have: min_threads of the options.
  unsigned size() const noexcept;
  /// What the controller has done lately, oldest first: up to 200 decisions.
  std::vector<pool_decision> decisions() const;
  /// A line per worker: state, lanes, counters. For people who look at a hang.
  std::string describe() const;

  // Implementation
  class impl;
  worker_pool(runtime& owner, const pool_options& options, detail::driven_loop* loop);
  ~worker_pool() override;
  /// Lets the workers finish what is queued, then joins them.
  void stop() noexcept;
  impl& implementation() noexcept { return *impl_; }

 private:
  std::unique_ptr<impl> impl_;
};

/// Index of the calling worker within its pool; -1 on any other thread.
TANDEM_API int current_worker_index() noexcept;

}  // namespace tandem::inline v0
