// mutex.hpp: mutual exclusion that tasks wait for, and that may be held across awaits.
// SPDX-License-Identifier: MIT
//
// Word: the value's lowest bit says "held" (detail/lock_word.hpp). unlock() hands a contended mutex
// over to the oldest waiter: it is never free while somebody waits, so nobody starves.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0 {

class mutex;
class mutex_awaiter;
class scoped_mutex_awaiter;

/// The right to a mutex; unlocks it when it goes.
class [[nodiscard]] mutex_guard {
 public:
  mutex_guard() noexcept = default;
  mutex_guard(mutex_guard&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  mutex_guard& operator=(mutex_guard&& other) noexcept {
    mutex_guard moved(std::move(other));
    std::swap(held_, moved.held_);
    return *this;
  }
  ~mutex_guard() { unlock(); }

  explicit operator bool() const noexcept { return held_ != nullptr; }
  /// Early; nothing if it holds none.
  void unlock() noexcept;

  // Implementation
  explicit mutex_guard(mutex& held) noexcept : held_(&held) {}

 private:
  mutex* held_ = nullptr;
};

/// One task at a time; the others wait in the order in which they came.
///
///     tandem::mutex m;
///     auto guard = co_await m.scoped_lock();
///     co_await write(file, line);          // still held; the task may have moved to another thread
///
/// @thread_safety  all members from any thread; the holder need not be the one that unlocks
class TANDEM_API mutex {
 public:
  mutex() noexcept : word_(0) {}
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  bool try_lock() noexcept {
    detail::lock_word::word free = 0;
    while (!word_.change(free, detail::lock_word::one)) {
      if (free != 0) return false;
    }
    note_owner(detail::this_thread().env);
    return true;
  }

  /// Waits until the mutex is the caller's, who has to unlock() it.
  ///
  /// @throws         operation_cancelled if a stop comes while it waits, or came before: then the
  ///                 caller does not hold it
  /// @cancellation   one that is ready may go through in a stopped task, up to 128 in a row; may
  ///                 lose the race and return normally, holding it
  /// @resumes_on     the caller's home
  /// @cost           one CAS if it is free; no allocation
  mutex_awaiter lock() noexcept;

  /// As lock(). @returns  a guard that unlocks
  scoped_mutex_awaiter scoped_lock() noexcept;

  /// Hands the mutex to the oldest waiter.
  ///
  /// @cost  one CAS without waiters, else one post
  void unlock() noexcept {
    detail::lock_word::word held = detail::lock_word::one;
    if (!word_.change(held, 0)) unlock_slow();
  }

  // Implementation
 private:
  friend mutex_awaiter;
  void unlock_slow() noexcept;
  /// For looks: who holds it. Only whoever has just got it.
  void note_owner(const environment* owner) noexcept {
    // Of the task: a part of it may end before the lock is given back. Relaxed: about now.
    owner_.store(environment::task_id(owner), std::memory_order_relaxed);
  }
  static const detail::wait_kind waits_for_mutex;

  detail::lock_word word_;               // first: waits_for_mutex
  std::atomic<std::uint64_t> owner_{0};  // id of a task; 0: locked outside any task
  detail::wait_list waiting_;
};

/// Awaiter of mutex::lock().
class [[nodiscard]] TANDEM_API mutex_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it: nobody would unlock

  explicit mutex_awaiter(mutex& target) noexcept : target_(&target) {}
  mutex_awaiter(mutex_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    return !detail::must_stop() && target_->try_lock() && room_.ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  void await_resume() const { room_.throw_if_cancelled(); }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept { return target_->try_lock(); }
  bool select_arm(detail::select_place& as) noexcept;
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 protected:
  mutex* target_;

 private:
  bool start(detail::promise_base& waiting) noexcept;

  detail::waiter_room<detail::waiter> room_;
};

/// Awaiter of mutex::scoped_lock().
class [[nodiscard]] scoped_mutex_awaiter : public mutex_awaiter {
 public:
  using lossy_when_dropped = std::false_type;
  using mutex_awaiter::mutex_awaiter;
  mutex_guard await_resume() const {
    mutex_awaiter::await_resume();
    return mutex_guard(*target_);
  }
};

inline mutex_awaiter mutex::lock() noexcept { return mutex_awaiter(*this); }
inline scoped_mutex_awaiter mutex::scoped_lock() noexcept { return scoped_mutex_awaiter(*this); }

inline void mutex_guard::unlock() noexcept {
  if (held_ != nullptr) std::exchange(held_, nullptr)->unlock();
}

}  // namespace tandem::inline v0

// The standard guards would call lock(), drop what has to be awaited, and unlock what they do not
// hold.
template <>
class std::lock_guard<tandem::mutex> {
 public:
  /// Write: auto guard = co_await m.scoped_lock();
  explicit lock_guard(tandem::mutex&) = delete;
};
template <>
class std::unique_lock<tandem::mutex> {
 public:
  /// Write: auto guard = co_await m.scoped_lock();
  explicit unique_lock(tandem::mutex&) = delete;
};
template <>
class std::scoped_lock<tandem::mutex> {
 public:
  /// Write: auto guard = co_await m.scoped_lock();
  explicit scoped_lock(tandem::mutex&) = delete;
};
