// task.hpp: the lazy coroutine type.
// SPDX-License-Identifier: MIT
//
// A task starts when it is awaited (or spawned, forked, run), at the home of whoever awaits it, and
// hands its result back there. It is called like a function as long as it does not suspend, but
// depth is never stack depth: past a bound the stack unwinds and the frames go on from the heap
// (calls/limit). No frame pays for an exception until one is thrown.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <tandem/detail/await_transform.hpp>
#include <tandem/detail/given_references.hpp>
#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0 {

template <class T>
class task;

namespace detail {

template <class T>
class promise_result : public promise_base {
 public:
  template <class U = T>
    requires std::constructible_from<T, U&&>
  void return_value(U&& value) {
    static_cast<outcome<T>*>(room)->set_value(std::forward<U>(value));
  }
};

template <class T>
class promise_result<T&> : public promise_base {
 public:
  void return_value(T& value) noexcept { static_cast<outcome<T&>*>(room)->set_value(value); }
};

template <>
class promise_result<void> : public promise_base {
 public:
  void return_void() noexcept {}
};

template <class T>
class task_promise final : public promise_result<T> {
 public:
  task_promise() noexcept = default;
#if !defined(NDEBUG)
  // For scopes that leave children behind with references to variables that are gone
  // (task_scope.hpp).
  template <class... Given>
    requires(sizeof...(Given) > 0)
  explicit task_promise(Given&... given) noexcept {
    note_given(this->handle().address(), given...);
  }
  static void* operator new(std::size_t bytes) {
    void* const frame = allocate_frame(bytes);
    note_frame(frame, bytes);
    return frame;
  }
  static void operator delete(void* frame, std::size_t bytes) noexcept { free_frame(frame, bytes); }
#endif

  task<T> get_return_object() noexcept;
  std::suspend_always initial_suspend() const noexcept { return {}; }
  TANDEM_ALWAYS_INLINE final_awaiter final_suspend() const noexcept { return end_of(*this); }

#if TANDEM_ABI_AWAIT_LINES
  template <class Awaitable>
  decltype(auto) await_transform(Awaitable&& awaitable,
                                 std::source_location where = std::source_location::current()) {
    this->awaits_at = where;
    return transform_awaitable(std::forward<Awaitable>(awaitable));
  }
#else
  template <class Awaitable>
  decltype(auto) await_transform(Awaitable&& awaitable) {
    return transform_awaitable(std::forward<Awaitable>(awaitable));
  }
#endif
};

/// Calls a child from an await. @returns whether the parent suspends
TANDEM_ALWAYS_INLINE bool call_awaited(promise_base& child, promise_base& parent,
                                       outcome_base& result) noexcept {
  thread_context& context = this_thread();
  child.inherit(parent, result);
  if (too_deep(context)) [[unlikely]] {
    context.next = child.handle();  // calls/limit
    return true;
  }
  child.segment = context.segment;
  return !call(context, child);
}

}  // namespace detail

/// A lazy computation that yields one T (a value, a reference or nothing) or throws.
///
///     tandem::task<int> twice(int x) { co_return 2 * x; }
///     tandem::task<int> sum() { co_return co_await twice(1) + co_await twice(2); }
///     int six = tandem::run(sum());
///
/// @cancellation   a task that was never started may be destroyed, however many tasks are nested in
///                 its arguments (those beyond some 64 KiB of stack go last, not in the order of
///                 the arguments); a started one runs to its end: ask it to stop and wait
/// @thread_safety  move-only; started once, by one awaiter
/// @resumes_on     the home of the awaiting task, whatever the child's own home became
/// @cost           one frame from a free list; no atomic operation
template <class T = void>
class [[nodiscard]] TANDEM_TRIVIAL_ABI task {
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
    if (frame_) detail::destroy_unstarted(frame_.promise());
  }

  /// @returns  whether there is a coroutine to start
  explicit operator bool() const noexcept { return frame_ != nullptr; }

  class awaiter;
  awaiter operator co_await() && noexcept { return awaiter(std::move(*this)); }

  // Implementation
  /// For whoever starts the task: from now on the frame belongs to itself.
  promise_type& release() noexcept { return std::exchange(frame_, {}).promise(); }

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

  /// For an awaiter that has not started.
  awaiter(awaiter&& other) noexcept : child_(std::move(other.child_)) {}

  bool await_ready() const noexcept {
    TANDEM_ASSERT(child_, "an empty task (default-constructed or moved from) was awaited");
    return false;
  }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return detail::call_awaited(child_.release(), parent.promise(), result_);
  }
  std::exception_ptr await_failure() noexcept { return result_.take_failure(); }
  T await_resume() { return result_.get(); }

 private:
  task child_;
  detail::outcome<T> result_;
};

template <class T>
task<T> detail::task_promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace tandem::inline v0
