// future.hpp: the bridge to std::future, for code that has not come over yet.
// SPDX-License-Identifier: MIT
//
// The standard gives no way to be told when a std::future is ready: one that is not has to be
// waited for by a thread. So from_future is for the border, not for the inside of a program.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <coroutine>
#include <exception>
#include <future>
#include <source_location>
#include <type_traits>
#include <utility>

#include <tandem/blocking.hpp>
#include <tandem/detail/outcome.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

/// Calls `wait_for(slice)`, by slices of 1 to 50 ms, until it says that the future is ready or the
/// current task is stopped. @returns whether it is ready
template <class Future>
bool wait_in_slices(Future& awaited) {
  constexpr std::chrono::milliseconds longest(50);
  for (std::chrono::milliseconds slice(1);; slice = (std::min)(2 * slice, longest)) {
    const std::future_status status = awaited.wait_for(slice);
    if (status == std::future_status::ready) return true;
    if (status == std::future_status::deferred) {
      awaited.wait();  // runs its function here
      return true;
    }
    if (stop_requested()) return false;
  }
}

template <class Future>
struct future_traits;
template <class T>
struct future_traits<std::future<T>> {
  using value_type = T;
};
template <class T>
struct future_traits<std::shared_future<T>> {
  using value_type = T;
};

}  // namespace detail

/// Awaiter of from_future(). Future: a std::future, a reference to one, or a std::shared_future.
template <class Future>
class [[nodiscard]] future_awaiter : private detail::blocking_request {
  using future_type = std::remove_reference_t<Future>;

 public:
  using tandem_awaiter = void;
  using value_type = typename detail::future_traits<future_type>::value_type;

  explicit future_awaiter(Future&& awaited)
      : blocking_request(&wait_there), awaited_(static_cast<Future&&>(awaited)) {}
  /// For an awaiter that has not started.
  future_awaiter(future_awaiter&& other) noexcept
      : blocking_request(std::move(other)), awaited_(static_cast<Future&&>(other.awaited_)) {}

  bool await_ready() const {
    return !awaited_.valid() || (is_ready() && detail::charge_ready_await());
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    if (is_ready()) {
      detail::yield_for_budget(self.promise());
      return true;
    }
    suspended_ = true;
    return start(self.promise(), waited_);
  }
  value_type await_resume() {
    if (!awaited_.valid()) throw std::future_error(std::future_errc::no_state);
    if (suspended_) {
      resumed();
      waited_.rethrow_if_failed();
      if (!ready_) throw operation_cancelled(cancel_reason());
    }
    return awaited_.get();
  }

 private:
  bool is_ready() const {
    return awaited_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  static void wait_there(blocking_request& request) noexcept {
    auto& self = static_cast<future_awaiter&>(request);
    try {
      self.ready_ = detail::wait_in_slices(self.awaited_);
    } catch (...) {
      self.waited_.error = std::current_exception();
    }
  }

  Future awaited_;
  detail::outcome_base waited_;
  bool suspended_ = false;
  bool ready_ = false;
};

/// Waits for a std::future, and takes its value.
///
///     Reply reply = co_await tandem::from_future(old_client.send(request));
///
/// A deferred one (std::launch::deferred) runs its function on a thread of blocking().
///
/// @param awaited  by value, or by reference: then it stays valid if the await is cancelled
/// @returns        what get() returns
/// @throws         what get() throws, std::future_error (no_state) for an empty one among it;
///                 operation_cancelled; what blocking() throws if it has no room
/// @cancellation   ends the wait, after up to 50 ms; a result that is there by then is returned.
///                 The operation behind the future goes on: nobody can cancel that
/// @resumes_on     the caller's home
/// @cost           a ready one: nothing. Else a thread of blocking() until it is ready, which wakes
///                 up at least every 50 ms: bounded by blocking_options::max_threads
template <class T>
future_awaiter<std::future<T>> from_future(std::future<T>&& awaited) noexcept {
  return future_awaiter<std::future<T>>(std::move(awaited));
}
template <class T>
future_awaiter<std::future<T>&> from_future(std::future<T>& awaited) noexcept {
  return future_awaiter<std::future<T>&>(awaited);
}
/// As above, of a std::shared_future. @returns a copy of its value
template <class T>
future_awaiter<std::shared_future<T>> from_future(std::shared_future<T> awaited) noexcept {
  return future_awaiter<std::shared_future<T>>(std::move(awaited));
}

namespace detail {

/// Gives the outcome of `source`, a task or a join_handle, to a future.
template <class T, class Source>
task<void> deliver(Source source, std::packaged_task<T(outcome<T>&)> receiver) {
  outcome<T> room;
  auto inner = std::move(source).operator co_await();
  co_await wait_for(inner);
  room.error = inner.await_failure();
  try {
    if (room.error != nullptr) {
      // Nothing more comes.
    } else if constexpr (std::is_void_v<T>) {
      inner.await_resume();
    } else {
      room.set_value(inner.await_resume());
    }
  } catch (...) {
    room.error = std::current_exception();
  }
  // The packaged task catches it inside: the exception is handed over, never held by two threads.
  receiver(room);
}

template <class T>
std::packaged_task<T(outcome<T>&)> make_receiver() {
  return std::packaged_task<T(outcome<T>&)>(
      [](outcome<T>& room) -> T { return static_cast<T>(room.get()); });
}

template <class T, class Source>
std::future<T> future_of(tandem::runtime& owner, Source source, const std::source_location& where) {
  auto receiver = make_receiver<T>();
  std::future<T> given = receiver.get_future();
  spawn_from_outside(owner, workers_of(owner),
                     deliver<T, Source>(std::move(source), std::move(receiver)), where)
      .detach();
  return given;
}

}  // namespace detail

/// Starts `body` and returns its outcome as a std::future, for a thread that knows no coroutines.
///
///     std::future<int> answer = tandem::spawn_future(rt, compute());
///
/// get() only waits: it does not run a runtime without threads; join_handle::wait() does.
///
/// @returns        a future that may be dropped: then the outcome, a failure included, is dropped,
///                 too. It has std::future_errc::broken_promise if the task never began
/// @throws         runtime_stopped; forked_runtime
/// @cancellation   none from the future's side; at the runtime's end it gets operation_cancelled
/// @thread_safety  any thread; get() and wait() block, so not on a thread of the runtime
/// @cost           as runtime::spawn, and the allocation of the future
template <class T>
std::future<T> spawn_future(runtime& owner, task<T> body,
                            std::source_location where = std::source_location::current()) {
  return detail::future_of<T>(owner, std::move(body), where);
}

/// The outcome of a task that runs already, as a std::future. Otherwise as spawn_future.
template <class T>
std::future<T> to_future(join_handle<T> handle,
                         std::source_location where = std::source_location::current()) {
  tandem::runtime& owner = detail::owner_of(handle);
  return detail::future_of<T>(owner, std::move(handle), where);
}

}  // namespace tandem::inline v0
