// saturation.cpp: what becomes of a submission that the pool does not take. Protocol submissions.
// SPDX-License-Identifier: MIT
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <tandem/rejected.hpp>

#include "pool/worker_pool_impl.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

namespace {

constexpr unsigned deepest_call = 8;
constinit thread_local unsigned calls_here = 0;

/// While it lives the calling thread runs another task on top of whatever it was doing: in a
/// segment of its own, and without a lane, so that nothing mixes with the forks below it
/// (joins/next).
class call_on_top {
 public:
  call_on_top(detail::thread_context& context, executor& pool, environment* env) noexcept
      : context_(context),
        segment_(std::exchange(context.segment, 0)),
        child_done_(std::exchange(context.child_done, false)),
        stack_limit_(context.stack_limit),
        lane_(std::exchange(context.lane, nullptr)),
        lane_home_(std::exchange(context.lane_home, nullptr)),
        layer_(std::exchange(context.layer, nullptr)),
        next_(std::exchange(context.next, nullptr)),
        env_(std::exchange(context.env, env)),
        observed_(std::exchange(context.observed, nullptr)),
        executor_(std::exchange(context.current_executor, &pool)),
        budget_(std::exchange(context.budget, detail::await_budget)) {
    ++calls_here;
  }
  call_on_top(const call_on_top&) = delete;
  call_on_top& operator=(const call_on_top&) = delete;
  ~call_on_top() {
    --calls_here;
    context_.segment = segment_;
    context_.child_done = child_done_;
    context_.stack_limit = stack_limit_;
    context_.lane = lane_;
    context_.lane_home = lane_home_;
    context_.layer = layer_;
    context_.next = next_;
    context_.env = env_;
    context_.observed = observed_;
    context_.current_executor = executor_;
    context_.budget = budget_;
  }

 private:
  detail::thread_context& context_;
  const std::uint64_t segment_;
  const bool child_done_;
  const char* const stack_limit_;
  detail::fork_lane* const lane_;
  const executor* const lane_home_;
  const executor* const layer_;
  const std::coroutine_handle<> next_;
  environment* const env_;
  detail::observed_segment* const observed_;
  executor* const executor_;
  const std::uint32_t budget_;
};

}  // namespace

rejection worker_pool::impl::rejection_of(rejection_cause cause, const std::source_location& where,
                                          int priority) const {
  rejection what(cause, life_.state(), where, name_);
  what.threads = threads_.load(std::memory_order_relaxed);
  what.max_threads = workers_.most();
  what.queued = submissions_.size();
  what.waiting = submissions_.waiting();
  what.priority = priority;
  return what;
}

void worker_pool::impl::saturate(detail::joinable_root& block, int priority, admission answer) {
  const bool is_shut = answer == admission::closed;
  rejections_.fetch_add(1, std::memory_order_relaxed);
  const auto told = [&] {
    return rejection_of(is_shut ? rejection_cause::shut_down : rejection_cause::full,
                        block.env_block().spawned_at(), priority);
  };
  policy_obstacle obstacle = policy_obstacle::none;
  saturation_policy chosen = policy_.load(std::memory_order_relaxed);  // changes/handlers
  if (chosen == saturation_policy::handler) {
    const std::shared_ptr<const pool_options> now = settings();  // it may be replaced while it runs
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

void worker_pool::impl::displace_oldest(detail::joinable_root& block, int priority) {
  detail::joinable_root* dropped = nullptr;
  if (submissions_.displace(block, priority, dropped) == admission::closed) dropped = &block;
  if (dropped != nullptr) dropped->drop(stop_reason::discarded);
  if (dropped != &block) announce_submission(true);
}

policy_obstacle worker_pool::impl::run_here(detail::joinable_root& block) noexcept {
  detail::thread_context& context = detail::this_thread();
  if (calls_here == deepest_call) return policy_obstacle::too_deep;
  if (own_worker() == nullptr) {
    const executor* const runs_for = context.current_executor;
    const bool elsewhere = runs_for != nullptr && runs_for != &pool_;
    if (elsewhere) return policy_obstacle::other_executor;
    if (context.fires_timers) return policy_obstacle::drives_timers;
    if (loop_ != nullptr) return policy_obstacle::no_threads;
  }
  const call_on_top role(context, pool_, block.env);
  block.run(&block);
  return policy_obstacle::none;
}

}  // namespace tandem::inline v0
