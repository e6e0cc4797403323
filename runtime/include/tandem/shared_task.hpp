// shared_task.hpp: work that runs once, and whose result any number of tasks await.
// SPDX-License-Identifier: MIT
//
// A copy is one more holder, and a wait is one, too: the work belongs to all of them together, and
// is stopped when the last one has gone. Protocol shared_calls: runtime/src/sync/README.md.
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

#include <tandem/detail/shared_call.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// Awaiter of a shared_task that has a name: yields a reference to the value.
template <class T>
class [[nodiscard]] shared_task_awaiter : public detail::shared_wait {
 public:
  using value = std::conditional_t<std::is_void_v<T>, void, std::add_lvalue_reference_t<const T>>;

  explicit shared_task_awaiter(detail::shared_call<T>& of) noexcept : shared_wait(of) {}
  value await_resume() {
    rethrow_failure();
    if constexpr (!std::is_void_v<T>) {
      return static_cast<detail::shared_call<T>&>(call()).result().value_ref();
    }
  }
};

/// Awaiter of a temporary shared_task: yields a copy.
template <class T>
class [[nodiscard]] shared_task_copy_awaiter : public detail::shared_wait {
 public:
  explicit shared_task_copy_awaiter(detail::shared_call<T>& of) noexcept : shared_wait(of) {}
  T await_resume() {
    rethrow_failure();
    if constexpr (!std::is_void_v<T>) {
      return static_cast<detail::shared_call<T>&>(call()).result().value_ref();
    }
  }
};

/// A task whose result several tasks await. It runs once.
///
///     tandem::shared_task<config> loading(load_config());
///     auto [a, b] = co_await tandem::when_all(serve(loading), watch(loading));
///     // in both: const config& settings = co_await loading;
///
/// It begins when somebody awaits it for the first time, or by start(), in a task of its own, with
/// the context of whoever began it. Each wait is stopped by itself, and the others go on.
///
/// When the last copy and the last wait have gone before it is done, nobody can get the result any
/// more: then the work is stopped (stop_reason::parent), and ends on its own time, counted by the
/// runtime as any spawned task. So keep a copy for work that shall go on although nobody awaits it
/// just now. A failure that no wait has got goes to runtime_options::on_suppressed_exception when
/// the last copy goes.
///
/// @thread_safety  copies may be used from different threads, and awaiting one copy from several
///                 tasks at once is fine; assigning to a copy that others use is not
template <class T = void>
class [[nodiscard]] shared_task {
 public:
  using value_type = T;

  /// Empty.
  shared_task() noexcept = default;
  /// @throws  std::bad_alloc; then `body` is as it was
  /// @cost    one block from a free list
  explicit shared_task(task<T>&& body, std::source_location where = std::source_location::current())
      : call_(new detail::shared_call<T>(checked(std::move(body)), where)) {}
  shared_task(const shared_task& other) noexcept : call_(other.call_) {
    if (call_ != nullptr) call_->hold();
  }
  shared_task(shared_task&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
  shared_task& operator=(shared_task other) noexcept {
    std::swap(call_, other.call_);
    return *this;
  }
  ~shared_task() {
    if (call_ != nullptr) call_->leave();
  }

  explicit operator bool() const noexcept { return call_ != nullptr; }
  bool is_done() const noexcept { return call().is_done(); }

  /// Begins the work, if nobody has, on the worker pool of the current runtime.
  ///
  /// @throws  std::logic_error outside any task. What keeps it from beginning is the task's failure
  void start() const { start(detail::workers_of(detail::current_runtime("shared_task::start"))); }
  /// As above, at another executor: that becomes the home of the work.
  void start(executor& home) const noexcept { call().begin(home); }

  /// Waits until the work is done; begins it, at the caller's home, if nobody has.
  ///
  /// @returns        of a shared_task with a name: a reference to the value, which lives as long as
  ///                 a copy does; of a temporary one: a copy
  /// @throws         what the task threw: each wait gets the same exception. operation_cancelled if
  ///                 a stop comes while the caller waits, or came before
  /// @cancellation   ends the wait, not the work, unless this was the last holder; may lose the race
  ///                 and return normally; one that is ready may go through in a stopped task, up to
  ///                 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           one load if it is done; no allocation but for the work, once
  shared_task_awaiter<T> operator co_await() const& noexcept {
    return shared_task_awaiter<T>(call());
  }
  shared_task_copy_awaiter<T> operator co_await() const&& noexcept {
    static_assert(
        std::is_void_v<T> || std::is_reference_v<T> || std::copy_constructible<T>,
        "this value cannot be copied out of a temporary shared_task: give the shared_task "
        "a name; awaiting that yields a reference");
    return shared_task_copy_awaiter<T>(call());
  }

  // Implementation
  /// A copy of what is held; null if its last holder has gone meanwhile.
  static shared_task holding(detail::shared_call<T>& of) noexcept {
    return of.hold_if_held() ? shared_task(of) : shared_task();
  }
  detail::shared_call<T>& call() const noexcept {
    TANDEM_ASSERT(call_ != nullptr, "an empty shared_task (default-constructed or moved from)");
    return *call_;
  }

 private:
  explicit shared_task(detail::shared_call<T>& held) noexcept : call_(&held) {}
  static task<T>&& checked(task<T>&& body) noexcept {
    TANDEM_ASSERT(body, "a shared_task was made of an empty task");
    return std::move(body);
  }

  detail::shared_call<T>* call_ = nullptr;
};

}  // namespace tandem::inline v0
