// condition.hpp: a mutex and a condition variable whose deadlines are by the steady clock.
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

#include <cstdint>
#include <ctime>

#include <tandem/config.hpp>

#include "platform/futex.hpp"

#if defined(__APPLE__)
#include <chrono>
#endif

namespace tandem::inline v0::platform {

/// Needs no constructor and no destructor to run, so it is there before and after all others.
class plain_mutex {
 public:
  void lock() noexcept { (void)::pthread_mutex_lock(&native_); }
  void unlock() noexcept { (void)::pthread_mutex_unlock(&native_); }
  pthread_mutex_t* native() noexcept { return &native_; }

 private:
  pthread_mutex_t native_ = PTHREAD_MUTEX_INITIALIZER;
};

class condition {
 public:
  condition() noexcept {
#if defined(__APPLE__)
    const int error = ::pthread_cond_init(&native_, nullptr);
#else
    pthread_condattr_t steady;
    (void)::pthread_condattr_init(&steady);
    (void)::pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    const int error = ::pthread_cond_init(&native_, &steady);
    (void)::pthread_condattr_destroy(&steady);
#endif
    TANDEM_ASSERT(error == 0, "the system has no memory for a condition variable");
  }
  condition(const condition&) = delete;
  condition& operator=(const condition&) = delete;
  ~condition() { (void)::pthread_cond_destroy(&native_); }

  /// pre: `held` is locked by the caller. Returns early at will, as all condition variables do.
  ///
  /// @returns  false if the deadline has passed
  bool wait(plain_mutex& held, std::int64_t deadline_ns) noexcept {
    if (deadline_ns == no_deadline) {
      (void)::pthread_cond_wait(&native_, held.native());
      return true;
    }
    constexpr std::int64_t second = 1'000'000'000;
#if defined(__APPLE__)
    // No clock can be chosen there, but a span.
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const std::int64_t left = deadline_ns - std::chrono::nanoseconds(now).count();
    if (left <= 0) return false;
    const timespec span{static_cast<time_t>(left / second), static_cast<long>(left % second)};
    return ::pthread_cond_timedwait_relative_np(&native_, held.native(), &span) == 0;
#else
    const std::int64_t at = deadline_ns > 0 ? deadline_ns : 0;
    const timespec until{static_cast<time_t>(at / second), static_cast<long>(at % second)};
    return ::pthread_cond_timedwait(&native_, held.native(), &until) == 0;
#endif
  }
  void wake() noexcept { (void)::pthread_cond_signal(&native_); }

 private:
  pthread_cond_t native_;
};

}  // namespace tandem::inline v0::platform
