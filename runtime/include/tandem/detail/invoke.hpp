// invoke.hpp: a plain call that another worker may take over: what parallel_invoke puts into the lane.
// SPDX-License-Identifier: MIT
//
// The job lives on the stack of the function that waits for it. While it is in the lane it is
// `queued`; whoever pops it runs it, whoever steals it becomes its thief:
// Protocol invoke:
//   push    the job goes to the lane; the first call runs
//   pop     the lane's newest is this job (calls nest, as in joins/next): it is called directly
//   steal   the thief names itself, runs the job and sets `done` with its last access
//   help    the waiter's own lane is empty (thieves take the oldest first, so everything below the
//           job is gone, too). It helps: it steals from the thief, and runs what descends from the
//           job; anything else goes to the pool's queue
//   sleep   nothing to help with: it sleeps on the state for a while, and looks again
// Helping with descendants only: the function may hold a lock that an unrelated job wants.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <tandem/detail/fork.hpp>

namespace tandem::inline v0::detail {

class TANDEM_API invoke_job : public job {
 public:
  invoke_job(const invoke_job&) = delete;
  invoke_job& operator=(const invoke_job&) = delete;

  /// invoke/push
  /// @returns  for take_back()
  TANDEM_ALWAYS_INLINE std::int64_t publish(thread_context& context) noexcept {
    const std::int64_t index = context.lane->position();
    if (context.lane->push(this)) [[unlikely]]
      (void)look_after_lane(context, lane_look::push);
    return index;
  }
  /// invoke/pop. @returns whether the job is ours to call; if not, it has a thief
  TANDEM_ALWAYS_INLINE bool take_back(thread_context& context, std::int64_t index) noexcept {
    if (context.lane->attention.load(std::memory_order_relaxed)) [[unlikely]] {
      (void)look_after_lane(context, lane_look::push);
    }
    return context.lane->pop_private_at(index) || context.lane->take_back() != nullptr;
  }
  /// invoke/help, invoke/sleep
  void wait(thread_context& context) noexcept;

 protected:
  TANDEM_ALWAYS_INLINE invoke_job(function f, const thread_context& context) noexcept
      : job(f, set_later()), inside_(context.stolen_call), thief_(nullptr), state_(queued) {
    env = context.env;
    next = this;
  }
  ~invoke_job() = default;

  /// invoke/steal. Around the call, by the thief.
  void begin_stolen() noexcept;
  void end_stolen() noexcept;

 private:
  enum : std::uint32_t { queued, awaited, done };

  /// In a lane: a frame's `next` is null there.
  static bool is_invoke_job(const job& item) noexcept { return item.next == &item; }
  bool descends_from(const invoke_job& other) const noexcept;
  bool help(thread_context& context) noexcept;

  invoke_job* const inside_;    // the stolen call in which this one was made
  std::atomic<worker*> thief_;  // null until it has begun
  std::atomic<std::uint32_t> state_;
  invoke_job* interrupted_;  // the thief's: the stolen call around this one
};

template <class F>
class invoked final : public invoke_job {
 public:
  using value_type = std::invoke_result_t<F&>;

  TANDEM_ALWAYS_INLINE invoked(F& call, const thread_context& context) noexcept
      : invoke_job(&invoked::run_stolen, context), call_(call) {}

  /// After wait(). @throws what the call threw
  value_type get() {
    if (failed_) [[unlikely]]
      std::rethrow_exception(take_failure());
    return room_.result.value();
  }
  /// After wait(), when the other call has thrown: its exception counts.
  void discard() noexcept {
    if (!failed_) return;
    const std::exception_ptr failure = take_failure();
    if (env != nullptr) report_suppressed(*env, failure);  // null: a job posted by hand
  }

 private:
  static void run_stolen(job* self) noexcept {
    auto& me = *static_cast<invoked*>(self);
    me.begin_stolen();
    me.failed_ = false;
    try {
      if constexpr (std::is_void_v<value_type>) {
        me.call_();
      } else {
        me.room_.result.set_value(me.call_());
      }
    } catch (...) {
      std::construct_at(&me.room_.result.error, std::current_exception());
      me.failed_ = true;
    }
    me.end_stolen();
  }

  std::exception_ptr take_failure() noexcept {
    std::exception_ptr failure = std::move(room_.result.error);
    std::destroy_at(&room_.result.error);
    return failure;
  }

  F& call_;
  fork_room<value_type> room_;
  bool failed_;  // set once it was stolen
};

}  // namespace tandem::inline v0::detail
