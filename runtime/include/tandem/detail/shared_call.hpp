// shared_call.hpp: what the holders of a shared_task share: the work, its outcome, and who waits.
// SPDX-License-Identifier: MIT
//
// Word (detail/lock_word.hpp), the value's bits: the lowest says "done", the next one "begun".
// Protocol shared_calls: runtime/src/sync/README.md.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/outcome.hpp>
#include <tandem/detail/pass_on.hpp>
#include <tandem/detail/root.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

class shared_call_base;
class shared_wait;

/// The work: a task of its own, whose outcome goes into the call. Lives as long as that.
class TANDEM_API shared_work final : public root {
 public:
  shared_work(tandem::runtime& owner, executor& target, promise_base& body, outcome_base& result,
              shared_call_base& call, const std::source_location& where) noexcept
      : root(owner, target, body, result, where), call_(&call) {}
  ~shared_work() override = default;

 private:
  std::coroutine_handle<> ended() noexcept override;

  shared_call_base* call_;
};

/// The part that does not depend on the type.
class TANDEM_API shared_call_base : public frame_allocated {
 public:
  shared_call_base(const shared_call_base&) = delete;
  shared_call_base& operator=(const shared_call_base&) = delete;

  /// After it the outcome stays as it is.
  bool is_done() const noexcept { return (word_.load() & done) != 0; }

  /// By whoever holds it already.
  void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  /// @returns  false if the last holder has gone: it is being stopped
  bool hold_if_held() noexcept;
  /// shared_calls/leave
  void leave() noexcept;
  /// shared_calls/begin. By a holder, in a task. What keeps it from beginning is its outcome.
  void begin(executor& home) noexcept;

 protected:
  explicit shared_call_base(const std::source_location& where) noexcept : word_(0), where_(where) {}
  virtual ~shared_call_base();
  /// Once.
  virtual promise_base& release_body() noexcept = 0;
  virtual outcome_base& room() noexcept = 0;

  static constexpr lock_word::word done = lock_word::one;
  static constexpr lock_word::word begun = lock_word::one * 2;

 private:
  friend shared_wait;
  friend shared_work;
  bool claim_begin() noexcept;
  /// @throws  what spawning throws
  void launch(executor& home);
  void conclude() noexcept;
  void drop() noexcept;
  void report_unseen() noexcept;

  lock_word word_;  // first: what a wait says
  std::atomic<std::uint32_t> holders_{1};
  std::atomic<std::uint32_t> references_{1};  // of all holders together, and of the work
  std::atomic<bool> is_seen_{false};          // somebody has got the outcome
  wait_list waiting_;
  std::source_location where_;
  shared_work* work_ = nullptr;  // written by whoever begins it, before it leaves
};

template <class T>
class shared_call final : public shared_call_base {
 public:
  shared_call(task<T>&& body, const std::source_location& where) noexcept
      : shared_call_base(where), body_(std::move(body)) {}

  outcome<T>& result() noexcept { return result_; }

 private:
  promise_base& release_body() noexcept override { return body_.release(); }
  outcome_base& room() noexcept override { return result_; }

  task<T> body_;  // until it begins
  outcome<T> result_;
};

/// Base of awaiters: waits until a shared call is done, and begins it if nobody has.
class TANDEM_API shared_wait {
 public:
  using tandem_awaiter = void;

  /// @param of  held by somebody until the wait begins, or has returned without a suspension
  explicit shared_wait(shared_call_base& of) noexcept : of_(&of) {}
  /// For an awaiter that has not started. It is kept from now on, perhaps for longer than the
  /// shared_task: so it holds.
  shared_wait(shared_wait&& other) noexcept : of_(other.of_) { hold(); }
  shared_wait& operator=(shared_wait&&) = delete;
  ~shared_wait() {
    if (is_holder_) of_->leave();
  }

  bool await_ready() noexcept { return !must_stop() && of_->is_done() && room_.ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() noexcept;

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept { return of_->is_done(); }
  bool select_arm(select_place& as) noexcept;
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 protected:
  shared_call_base& call() const noexcept { return *of_; }
  void rethrow_failure() {
    if (std::exception_ptr failure = await_failure()) std::rethrow_exception(std::move(failure));
  }

 private:
  bool start(promise_base& waiting) noexcept;
  void hold() noexcept;

  shared_call_base* of_;
  bool is_holder_ = false;
  waiter_room<waiter> room_;
};

}  // namespace tandem::inline v0::detail
