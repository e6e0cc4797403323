// waits.hpp: flags, latches and semaphores for the threads of a test, on a mutex and a condition variable.
// SPDX-License-Identifier: MIT
//
// Not those of the standard library: where there is no futex, libstdc++ 12 and 13 look at a value before
// they take the lock under which they then wait, so that std::atomic::wait, and with it std::latch,
// std::barrier and the semaphores, may sleep through the one notification that comes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace tandem::test {

/// As std::atomic<bool>, of which every change is notified.
class flag {
 public:
  flag(bool first = false) : is_set_(first) {}  // NOLINT: converts on purpose

  flag& operator=(bool now) {
    const std::lock_guard guard(lock_);
    is_set_ = now;
    changed_.notify_all();
    return *this;
  }
  operator bool() const {  // NOLINT: converts on purpose
    const std::lock_guard guard(lock_);
    return is_set_;
  }
  /// Until it is not `old`.
  void wait(bool old) const {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [this, old] { return is_set_ != old; });
  }

 private:
  mutable std::mutex lock_;
  mutable std::condition_variable changed_;
  bool is_set_;
};

/// As std::latch.
class latch {
 public:
  explicit latch(std::ptrdiff_t expected) : left_(expected) {}

  void count_down(std::ptrdiff_t count = 1) {
    const std::lock_guard guard(lock_);
    left_ -= count;
    if (left_ == 0) changed_.notify_all();
  }
  void wait() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [this] { return left_ == 0; });
  }
  void arrive_and_wait() {
    count_down();
    wait();
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::ptrdiff_t left_;
};

/// As std::counting_semaphore.
class thread_semaphore {
 public:
  explicit thread_semaphore(std::ptrdiff_t count) : count_(count) {}

  void release(std::ptrdiff_t more = 1) {
    const std::lock_guard guard(lock_);
    count_ += more;
    changed_.notify_all();
  }
  void acquire() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [this] { return count_ > 0; });
    --count_;
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::ptrdiff_t count_;
};

}  // namespace tandem::test
