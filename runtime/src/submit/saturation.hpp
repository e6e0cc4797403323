// saturation.hpp: what becomes of a submission that the pool does not take. Protocol submissions/policy.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/rejected.hpp>
#include <tandem/submission_options.hpp>
#include <tandem/worker_pool.hpp>

#include "crew/pool_settings.hpp"
#include "submit/submission_queue.hpp"

namespace tandem::inline v0::detail {

class submission_desk;

class saturation {
 public:
  /// @param has_threads  false: a thread that drives them is none of the pool's
  saturation(const worker_pool::impl& pool, executor& home, bool has_threads,
             const pool_settings& settings, submission_queue& submissions, submission_desk& desk,
             saturation_policy policy) noexcept
      : pool_(pool),
        home_(home),
        has_threads_(has_threads),
        settings_(settings),
        submissions_(submissions),
        desk_(desk),
        policy_(policy) {}
  saturation(const saturation&) = delete;
  saturation& operator=(const saturation&) = delete;

  /// The policy is applied to a task that was counted and not taken.
  /// @throws  rejected, and what a handler throws: then the caller takes the task back
  void refuse(joinable_root& block, int priority, submission_queue::answer why);
  /// changes/handlers
  void set_policy(saturation_policy policy) noexcept {
    policy_.store(policy, std::memory_order_relaxed);
  }
  std::uint64_t rejections() const noexcept { return rejections_.load(std::memory_order_relaxed); }

 private:
  /// submissions/discard_oldest
  void displace_oldest(joinable_root& block, int priority);
  /// submissions/caller_runs. @returns why this thread is no place for it; none: it has run
  policy_obstacle run_here(joinable_root& block) noexcept;

  const worker_pool::impl& pool_;  // to know its workers by
  executor& home_;
  const bool has_threads_;
  const pool_settings& settings_;
  submission_queue& submissions_;
  submission_desk& desk_;
  std::atomic<saturation_policy> policy_;
  alignas(64) std::atomic<std::uint64_t> rejections_{0};  // written by any thread
};

}  // namespace tandem::inline v0::detail
