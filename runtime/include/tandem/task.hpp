// task.hpp: the lazy coroutine type.
// SPDX-License-Identifier: MIT
//
// A task starts when it is awaited (or spawned, forked, run), at the home of whoever awaits it, and
// hands its result back there. Depth is never stack depth: frames hand over by symmetric transfer or
// through the thread's next slot (config.hpp). No frame pays for an exception until one is thrown.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <tandem/detail/await_transform.hpp>
#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0 {

template <class T>
class task;

namespace detail {

/// The result of a frame: nothing is constructed until there is one.
template <class T>
class promise_result : public promise_base {
 public:
  static_assert(alignof(T) <= 16,
                "a result aligned over 16 bytes has to live on the heap (g++ 12)");

  promise_result() noexcept {}
  ~promise_result() {
    if (outcome_ == outcome::value) std::destroy_at(std::addressof(value_));
  }

  template <class U = T>
    requires std::constructible_from<T, U&&>
  void return_value(U&& value) {
    std::construct_at(std::addressof(value_), std::forward<U>(value));
    outcome_ = outcome::value;
  }
  T&& get() {
    rethrow_if_failed();
    return std::move(value_);
  }

 private:
  union {
    T value_;
  };
};

template <class T>
class promise_result<T&> : public promise_base {
 public:
  void return_value(T& value) noexcept { value_ = std::addressof(value); }
  T& get() {
    rethrow_if_failed();
    return *value_;
  }

 private:
  T* value_ = nullptr;
};

template <>
class promise_result<void> : public promise_base {
 public:
  void return_void() noexcept {}
  void get() { rethrow_if_failed(); }
};

template <class T>
class task_promise final : public promise_result<T> {
 public:
  task_promise() noexcept = default;

  task<T> get_return_object() noexcept;
  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }

  template <class Awaitable>
  decltype(auto) await_transform(Awaitable&& awaitable) {
    return transform_awaitable(std::forward<Awaitable>(awaitable));
  }
};

/// Starts a child from an await, with everything inherited, and hands over to it.
TANDEM_ALWAYS_INLINE std::coroutine_handle<> start_awaited(promise_base& child,
                                                           promise_base& parent) noexcept {
  child.inherit(parent);
  return transfer(child.handle());
}

}  // namespace detail

/// A lazy computation that yields one T (a value, a reference or nothing) or throws.
///
///     tandem::task<int> twice(int x) { co_return 2 * x; }
///     tandem::task<int> sum() { co_return co_await twice(1) + co_await twice(2); }
///     int six = tandem::run(sum());
///
/// @cancellation   a task that was never started may be destroyed; a started one runs to its end:
///                 ask it to stop and wait
/// @thread_safety  move-only; started once, by one awaiter
/// @resumes_on     the home of the awaiting task, whatever the child's own home became
/// @cost           one frame from a free list; no atomic operation
template <class T = void>
class [[nodiscard]] task {
 public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;

  task() noexcept = default;
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  task& operator=(task&& other) noexcept {
    task moved(std::move(other));
    std::swap(frame_, moved.frame_);
    return *this;
  }
  ~task() {
    if (frame_) frame_.destroy();
  }

  /// @returns  whether there is a coroutine to start
  explicit operator bool() const noexcept { return frame_ != nullptr; }

  class awaiter;
  awaiter operator co_await() && noexcept { return awaiter(std::move(*this)); }

  // Implementation
  promise_type& promise() const noexcept { return frame_.promise(); }

 private:
  friend promise_type;
  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

template <class T>
class [[nodiscard]] task<T>::awaiter {
 public:
  using tandem_awaiter = void;

  explicit awaiter(task&& child) noexcept : child_(std::move(child)) {}

  bool await_ready() const noexcept {
    TANDEM_ASSERT(child_, "an empty task (default-constructed or moved from) was awaited");
    return false;
  }
  template <class Promise>
  TANDEM_ALWAYS_INLINE std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> parent) noexcept {
    return detail::start_awaited(child_.promise(), parent.promise());
  }
  T await_resume() { return child_.promise().get(); }

 private:
  task child_;
};

template <class T>
task<T> detail::task_promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace tandem::inline v0
