// flights.hpp: the calls of a single_flight that are under way, by their keys.
// SPDX-License-Identifier: MIT
//
// An entry points to a call that may be given up at any time: whoever finds it has to hold the call
// before use. The entry goes, under the lock, before the call's memory does.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <source_location>
#include <unordered_map>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/pass_on.hpp>
#include <tandem/shared_task.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

/// What Make is asked for a key, and returns.
template <class Make, class Key>
decltype(auto) make_for(Make& make, const Key& key) {
  if constexpr (std::invocable<Make&, const Key&>) {
    return std::invoke(make, key);
  } else {
    return std::invoke(make);
  }
}

/// Shared by the single_flight and its calls, since one that is being stopped may outlive it.
template <class Key, class T, class Hash, class Equal>
class flights {
 public:
  /// Of a call; lives in its frame.
  class entry {
   public:
    entry(std::shared_ptr<flights> of, const Key& key, std::uint64_t number)
        : of_(std::move(of)), key_(key), number_(number) {}
    entry(entry&& other) noexcept(std::is_nothrow_move_constructible_v<Key>) = default;
    entry& operator=(entry&&) = delete;
    ~entry() {
      if (of_ != nullptr) of_->remove(key_, number_);
    }
    const Key& key() const noexcept { return key_; }

   private:
    std::shared_ptr<flights> of_;
    Key key_;
    std::uint64_t number_;
  };

  /// @throws  std::bad_alloc; what copying a key, its hash and its comparison throw
  template <class Make>
  static shared_task<T> join_or_begin(const std::shared_ptr<flights>& all, const Key& key,
                                      Make& make, const std::source_location& where) {
    if (shared_task<T> found = all->join(key)) return found;
    // Relaxed: a number of its own is all that it has to be.
    const std::uint64_t number = all->next_number_.fetch_add(1, std::memory_order_relaxed);
    shared_task<T> made(fly(entry(all, key, number), std::move(make)), where);
    const std::lock_guard guard(all->lock_);  // gone before `made`, whose end takes the lock
    const auto [at, is_new] = all->calls_.try_emplace(key, call(made.call(), number));
    if (is_new) return made;
    // Somebody was quicker, unless that call has been given up, and is about to end.
    if (shared_task<T> found = shared_task<T>::holding(*at->second.of)) return found;
    at->second = call(made.call(), number);
    return made;
  }

  std::size_t size() {
    const std::lock_guard guard(lock_);
    return calls_.size();
  }

 private:
  struct call {
    call(shared_call<T>& which, std::uint64_t its_number) noexcept
        : of(&which), number(its_number) {}
    shared_call<T>* of;
    std::uint64_t number;
  };

  shared_task<T> join(const Key& key) {
    const std::lock_guard guard(lock_);
    const auto at = calls_.find(key);
    return at == calls_.end() ? shared_task<T>() : shared_task<T>::holding(*at->second.of);
  }

  void remove(const Key& key, std::uint64_t number) {
    const std::lock_guard guard(lock_);
    const auto at = calls_.find(key);
    if (at != calls_.end() && at->second.number == number) calls_.erase(at);
  }

  template <class Make>
  static task<T> fly(entry place, Make make) {
    const entry held(std::move(place));  // goes before anybody hears of the end
    auto inner = as_task(make_for(make, held.key())).operator co_await();
    co_await wait_for(inner);
    co_await pass_on(inner.await_failure());
    co_return inner.await_resume();
  }

  futex_mutex lock_;
  std::unordered_map<Key, call, Hash, Equal> calls_;
  std::atomic<std::uint64_t> next_number_{0};
};

}  // namespace tandem::inline v0::detail
