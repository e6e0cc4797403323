// call_on_top.hpp: a thread runs another task on top of whatever it was doing.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include <tandem/detail/thread_context.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0::detail {

/// While it lives the calling thread runs another task on top of whatever it was doing: in a
/// segment of its own, and without a lane, so that nothing mixes with the forks below it
/// (joins/next).
class call_on_top {
 public:
  call_on_top(thread_context& context, executor& pool, environment* env) noexcept
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
        budget_(std::exchange(context.budget, await_budget)) {}
  call_on_top(const call_on_top&) = delete;
  call_on_top& operator=(const call_on_top&) = delete;
  ~call_on_top() {
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
  thread_context& context_;
  const std::uint64_t segment_;
  const bool child_done_;
  const char* const stack_limit_;
  fork_lane* const lane_;
  const executor* const lane_home_;
  const executor* const layer_;
  const std::coroutine_handle<> next_;
  environment* const env_;
  observed_segment* const observed_;
  executor* const executor_;
  const std::uint32_t budget_;
};

}  // namespace tandem::inline v0::detail
