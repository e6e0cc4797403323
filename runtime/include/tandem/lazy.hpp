// lazy.hpp: a value that an asynchronous initialiser makes when it is first asked for.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <tandem/once.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

template <class T>
class lazy_awaiter;

/// A T that is made by the first that asks; those that come meanwhile wait for it.
///
///     tandem::lazy<pool> connections([] { return open_pool("db:5432"); });
///     ...
///     pool& all = co_await connections.get();
///
/// @thread_safety  all members from any thread; the value is shared by all that have got it
template <class T>
class lazy {
  static_assert(std::is_object_v<T>, "a lazy holds an object: lazy<T*> for a reference");

 public:
  /// @param make  called when it is first asked for, again if that attempt failed or was stopped
  explicit lazy(std::function<task<T>()> make) : make_(std::move(make)) {}
  lazy(const lazy&) = delete;
  lazy& operator=(const lazy&) = delete;

  /// @returns  null as long as it has not been made
  T* try_get() noexcept { return once_.is_done() ? std::addressof(*value_) : nullptr; }

  /// Makes it, or waits until it has been made.
  ///
  /// @returns        the value, which lives as long as the lazy
  /// @throws         what `make` or its task throws, to the caller whose attempt it was: the oldest
  ///                 that waits tries next; operation_cancelled
  /// @cancellation   a stop ends the wait, or reaches the task of `make` if this caller began it;
  ///                 then the oldest that waits tries next
  /// @resumes_on     the caller's home
  /// @cost           one load if it is there; else three frames
  lazy_awaiter<T> get() noexcept { return lazy_awaiter<T>(*this); }

  // Implementation
 private:
  friend lazy_awaiter<T>;
  class filler {
   public:
    explicit filler(lazy& target) noexcept : target_(&target) {}
    task<void> operator()() const { return fill(*target_); }

   private:
    static task<void> fill(lazy& self) {
      auto made = self.make_().operator co_await();
      co_await detail::wait_for(made);
      co_await detail::pass_on(made.await_failure());
      self.value_.emplace(made.await_resume());
    }
    lazy* target_;
  };

  once once_;
  std::optional<T> value_;  // written by whoever has the turn; read once it is done
  const std::function<task<T>()> make_;
};

/// Awaiter of lazy::get().
template <class T>
class [[nodiscard]] lazy_awaiter : private once_awaiter<typename lazy<T>::filler> {
  using base = once_awaiter<typename lazy<T>::filler>;

 public:
  using tandem_awaiter = void;

  explicit lazy_awaiter(lazy<T>& target) noexcept
      : base(target.once_, typename lazy<T>::filler(target)), target_(&target) {}
  /// For an awaiter that has not started.
  lazy_awaiter(lazy_awaiter&&) noexcept = default;

  using base::await_failure;
  using base::await_ready;
  using base::await_suspend;
  T& await_resume() {
    base::await_resume();
    return *target_->value_;
  }

 private:
  lazy<T>* target_;
};

}  // namespace tandem::inline v0
