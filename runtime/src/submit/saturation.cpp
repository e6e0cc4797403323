// saturation.cpp: the policies, without any lock.
// SPDX-License-Identifier: MIT
#include "submit/saturation.hpp"

#include <memory>
#include <string>

#include "crew/worker.hpp"
#include "submit/call_on_top.hpp"
#include "submit/submission_desk.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr unsigned deepest_call = 8;
constinit thread_local unsigned calls_here = 0;

}  // namespace

void saturation::refuse(joinable_root& block, int priority, submission_queue::answer why) {
  const bool is_shut = why == submission_queue::answer::closed;
  rejections_.fetch_add(1, std::memory_order_relaxed);
  const auto told = [&] {
    return desk_.rejection_of(is_shut ? rejection_cause::shut_down : rejection_cause::full,
                              block.env_block().spawned_at(), priority);
  };
  policy_obstacle obstacle = policy_obstacle::none;
  saturation_policy chosen = policy_.load(std::memory_order_relaxed);  // changes/handlers
  if (chosen == saturation_policy::handler) {
    // It may be replaced while it runs.
    const std::shared_ptr<const pool_options> now = settings_.get();
    chosen = now->submissions.when_saturated;
    if (chosen == saturation_policy::handler) chosen = now->submissions.on_rejected(told());
  }
  switch (chosen) {
    case saturation_policy::discard: block.drop(stop_reason::discarded); return;
    case saturation_policy::caller_runs:
      if (is_shut) {
        block.drop(stop_reason::discarded);
        return;
      }
      obstacle = run_here(block);
      if (obstacle == policy_obstacle::none) return;
      break;
    case saturation_policy::discard_oldest:
      if (is_shut) {
        block.drop(stop_reason::discarded);
        return;
      }
      if (submissions_.kind() != queue_kind::bounded) {
        obstacle = policy_obstacle::no_oldest;  // a handler's choice
        break;
      }
      displace_oldest(block, priority);
      return;
    default: break;
  }
  rejection what = told();
  what.obstacle = obstacle;
  throw rejected(what);
}

void saturation::displace_oldest(joinable_root& block, int priority) {
  joinable_root* dropped = nullptr;
  if (submissions_.displace(block, priority, dropped) == submission_queue::answer::closed)
    dropped = &block;
  if (dropped != nullptr) dropped->drop(stop_reason::discarded);
  if (dropped != &block) desk_.announce(true);
}

policy_obstacle saturation::run_here(joinable_root& block) noexcept {
  thread_context& context = this_thread();
  if (calls_here == deepest_call) return policy_obstacle::too_deep;
  if (current_worker_of(pool_) == nullptr) {
    const executor* const runs_for = context.current_executor;
    const bool elsewhere = runs_for != nullptr && runs_for != &home_;
    if (elsewhere) return policy_obstacle::other_executor;
    if (context.fires_timers) return policy_obstacle::drives_timers;
    if (!has_threads_) return policy_obstacle::no_threads;
  }
  const call_on_top role(context, home_, block.env);
  ++calls_here;
  block.run(&block);
  --calls_here;
  return policy_obstacle::none;
}

}  // namespace tandem::inline v0::detail
