// fork.hpp: how children are forked and joined.
// SPDX-License-Identifier: MIT
//
//   F1 fork     set the join to n, then push children n-1 .. 1; run child 0
//   F2 end      a child that is not the last pops the lane; if that is its sibling it was not stolen:
//               the sibling inherits the debt + 1 and runs; no atomic operation on the join
//   F3 end      the last child with a debt of n ran everything itself: the parent goes on at once
//   F4 end      else the child settles its debt on the join by one subtraction; whoever brings it to 0
//               goes on with the parent
//   F5 popped something else (the child had moved to another worker): push it back, settle
//   F6 attention: settle and return to the worker's loop, which serves one item of another lane
// A debt travels in the child, so it is settled wherever a child that suspended comes to its end.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>

#include <tandem/detail/fork_lane.hpp>
#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0::detail {

/// Reports an exception that another one has overtaken.
TANDEM_API void report_suppressed(const promise_base& failed) noexcept;
/// Wakes an idle worker of the calling worker's pool if nobody searches.
TANDEM_API void wake_for_fork(const thread_context& context) noexcept;

/// One join, in the awaiter of the parent. Movable until it starts.
class join_frame {
 public:
  join_frame() noexcept = default;
  join_frame(join_frame&&) noexcept {}
  join_frame& operator=(join_frame&&) = delete;

  bool failed() const noexcept { return first_failed_.load(std::memory_order_relaxed) != nullptr; }
  [[noreturn]] void rethrow_first() const {
    // Relaxed: the join has ordered the child's end before the parent.
    std::rethrow_exception(first_failed_.load(std::memory_order_relaxed)->take_exception());
  }

 private:
  friend class fork_builder;

  std::atomic<std::uint32_t> remaining_{0};
  std::uint32_t count_ = 0;
  std::atomic<promise_base*> first_failed_{nullptr};
};

/// Forks the children that it is given last to first; start() says what to resume.
class fork_builder {
 public:
  fork_builder(join_frame& join, promise_base& parent, std::size_t count) noexcept
      : join_(join), parent_(parent) {
    thread_context& context = this_thread();
    on_lane_ = context.lane != nullptr && context.current_executor == parent.home;
    context_ = &context;
    join_.count_ = static_cast<std::uint32_t>(count);
    join_.remaining_.store(join_.count_, std::memory_order_relaxed);  // F1: published by the push
  }

  void add(promise_base& child) noexcept {
    child.inherit(parent_);
    child.on_final = &fork_builder::child_ended;
    // The first one added is the last to run: bit 0 says so.
    child.link = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&join_) |  // NOLINT
                                         (held_back_ == nullptr ? 1U : 0U));
    if (held_back_ != nullptr) publish(*held_back_);
    held_back_ = &child;
  }

  std::coroutine_handle<> start() noexcept {
    if (on_lane_) wake_for_fork(*context_);
    return held_back_->handle();
  }

 private:
  void publish(promise_base& child) noexcept {
    if (on_lane_) [[likely]] {
      context_->lane->push(&child);
    } else {
      parent_.home->post(&child, post_kind::spawn);
    }
  }

  static std::coroutine_handle<> child_ended(promise_base& child) noexcept {
    const auto link = reinterpret_cast<std::uintptr_t>(child.link);
    join_frame& join = *reinterpret_cast<join_frame*>(link & ~std::uintptr_t{1});  // NOLINT
    if (child.failed()) [[unlikely]]
      note_failure(join, child);
    const bool is_last = (link & 1U) != 0;
    if (!is_last) {
      if (promise_base* sibling = pop_sibling(link)) [[likely]] {  // F2
        sibling->debt = child.debt + 1;
        return sibling->handle();
      }
    } else if (child.debt == join.count_) {  // F3
      return continue_with(*child.continuation, child);
    }
    promise_base& parent = *child.continuation;
    const std::uint32_t debt = child.debt;
    const executor* const home = child.home;
    // F4. acq_rel: the last one sees what every child has written. The join and all children may be
    // gone after this unless we were the last.
    if (join.remaining_.fetch_sub(debt, std::memory_order_acq_rel) != debt) {
      return std::noop_coroutine();
    }
    if (parent.home == home) return parent.handle();
    parent.post();
    return std::noop_coroutine();
  }

  static promise_base* pop_sibling(std::uintptr_t link) noexcept {
    fork_lane* const lane = this_thread().lane;
    if (lane == nullptr) return nullptr;
    if (lane->attention.load(std::memory_order_relaxed)) [[unlikely]] {  // F6: a hint, no pairing
      if (lane->attention_pause == 0) return nullptr;
      --lane->attention_pause;
    }
    job* const item = lane->pop();
    if (item == nullptr) return nullptr;
    auto* const next = static_cast<promise_base*>(item);  // the lane holds forked children only
    if (((reinterpret_cast<std::uintptr_t>(next->link) ^ link) & ~std::uintptr_t{1}) != 0) {  // F5
      lane->push(item);
      return nullptr;
    }
    return next;
  }

  static void note_failure(join_frame& join, promise_base& child) noexcept {
    promise_base* none = nullptr;
    if (!join.first_failed_.compare_exchange_strong(none, &child, std::memory_order_relaxed)) {
      report_suppressed(child);
    }
  }

  join_frame& join_;
  promise_base& parent_;
  thread_context* context_;
  promise_base* held_back_ = nullptr;
  bool on_lane_;
};

inline std::coroutine_handle<> fork(join_frame& join, promise_base& parent,
                                    promise_base* const* children, std::size_t count) noexcept {
  fork_builder builder(join, parent, count);
  for (std::size_t i = count; i-- > 0;) builder.add(*children[i]);
  return builder.start();
}

}  // namespace tandem::inline v0::detail
