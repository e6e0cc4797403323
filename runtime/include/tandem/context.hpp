// context.hpp: values that flow down with the work: request ids, deadlines, tenants, loggers.
// SPDX-License-Identifier: MIT
//
// A task's context is an immutable list of bindings, newest first. Binding makes a new list that
// shares the rest, for one child task; nothing that runs already sees it. A spawned task captures
// the list of its spawner, forked and scoped children share it, and it is part of the environment,
// so it is there in every segment, on whatever thread, and gone between items.
#pragma once

#include <concepts>
#include <coroutine>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/border.hpp>
#include <tandem/detail/context_entry.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// A name under which a value may be bound for a part of the tree of tasks.
///
///     const tandem::context_local<std::string> request_id;
///
///     void log(const char* text) { std::printf("[%s] %s\n", request_id.get().c_str(), text); }
///
///     co_await tandem::with_context(request_id, "r-17", handle(request));
///
/// The object itself is the key: make it static, or let it outlive all that is bound to it.
///
/// @thread_safety  all members from any thread; T is only read
template <class T>
class context_local {
 public:
  using value_type = T;

  context_local() noexcept(std::is_nothrow_default_constructible_v<T>)
    requires std::default_initializable<T>
      : fallback_() {}
  /// @param fallback  what get() returns where nothing is bound
  explicit context_local(T fallback) noexcept(std::is_nothrow_move_constructible_v<T>)
      : fallback_(std::move(fallback)) {}
  context_local(const context_local&) = delete;
  context_local& operator=(const context_local&) = delete;

  /// What is bound for the calling task, else the fallback. In plain functions, too. The reference
  /// holds until the task that bound it goes on.
  ///
  /// @cost  a walk over the bindings of the task
  const T& get() const noexcept {
    const T* const bound = find();
    return bound != nullptr ? *bound : fallback_;
  }
  /// As get(), null where nothing is bound.
  const T* find() const noexcept {
    const detail::context_entry* const entry = detail::find_in_context(this);
    if (entry == nullptr) return nullptr;
    return &static_cast<const detail::context_value<T>*>(entry)->value;
  }

 private:
  T fallback_;
};

namespace detail {

/// The part of with_context and suppress_flow that does not depend on result and value.
class TANDEM_API context_scope : private border {
 public:
  context_scope(context_scope&& other) noexcept
      : border(std::move(other)), entry_(std::exchange(other.entry_, nullptr)) {}
  context_scope& operator=(context_scope&&) = delete;

 protected:
  /// @param entry  the new binding, with one reference; null: no context at all
  explicit context_scope(context_entry* entry) noexcept
      : border(border_kind::open), entry_(entry) {}
  ~context_scope() { release_context(entry_); }

  void start(promise_base& child, promise_base& parent, outcome_base& result) noexcept;

 private:
  static std::coroutine_handle<> on_child_final(const ended_frame& child) noexcept;

  context_entry* entry_;
};

}  // namespace detail

/// Awaiter of with_context() and suppress_flow().
template <class T>
class [[nodiscard]] context_awaiter : private detail::context_scope {
 public:
  using tandem_awaiter = void;

  context_awaiter(detail::context_entry* entry, task<T>&& child) noexcept
      : context_scope(entry), child_(std::move(child)) {}
  /// For an awaiter that has not started.
  context_awaiter(context_awaiter&& other) noexcept
      : context_scope(std::move(other)), child_(std::move(other.child_)) {}

  bool await_ready() const noexcept {
    TANDEM_ASSERT(child_, "with_context or suppress_flow was given an empty task");
    return false;
  }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    detail::promise_base& child = child_.release();
    start(child, parent.promise(), result_);
    return detail::transfer(child.handle());
  }
  std::exception_ptr await_failure() noexcept { return result_.take_failure(); }
  T await_resume() { return result_.get(); }

 private:
  task<T> child_;
  detail::outcome<T> result_;
};

/// Runs `child` with `value` bound to `local`, for it and for all that it awaits, forks and spawns.
///
/// @param child    a task, or anything else that can be awaited (one frame more)
/// @param value    lives until the last task that has captured it has ended
/// @returns        what `child` returns
/// @throws         what `child` throws; std::bad_alloc
/// @cancellation   a stop of the caller reaches the child
/// @resumes_on     the caller's home
/// @cost           one allocation from a free list; a spawn below it counts a reference
template <class V, class U, detail::combinable A>
  requires std::constructible_from<V, U&&>
detail::marked_t<A, context_awaiter<detail::awaited_t<A>>> with_context(
    const context_local<V>& local, U&& value, A&& child) {
  task<detail::awaited_t<A>> body = detail::as_task(std::forward<A>(child));
  auto* const entry = new detail::context_value<V>(&local, std::forward<U>(value));
  return detail::marked_t<A, context_awaiter<detail::awaited_t<A>>>(entry, std::move(body));
}

/// Runs `child` without any context: what it spawns captures nothing, so that long-lived tasks keep
/// no values of the request that happened to start them. See also spawn(no_flow, ...).
///
/// @cancellation   a stop of the caller reaches the child
/// @resumes_on     the caller's home
template <detail::combinable A>
detail::marked_t<A, context_awaiter<detail::awaited_t<A>>> suppress_flow(A&& child) {
  return detail::marked_t<A, context_awaiter<detail::awaited_t<A>>>(
      nullptr, detail::as_task(std::forward<A>(child)));
}

}  // namespace tandem::inline v0
