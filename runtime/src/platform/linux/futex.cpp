// futex.cpp: futexes on Linux.
// SPDX-License-Identifier: MIT
#include "platform/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>

namespace tandem::inline v0::platform {

namespace {

std::uint32_t* address_of(std::atomic<std::uint32_t>& word) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(&word);  // NOLINT
}

}  // namespace

bool wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected,
             std::int64_t deadline_ns) noexcept {
  timespec until{};
  timespec* limit = nullptr;
  if (deadline_ns != no_deadline) {
    const std::int64_t when = std::max<std::int64_t>(deadline_ns, 0);
    until.tv_sec = when / 1'000'000'000;
    until.tv_nsec = when % 1'000'000'000;
    limit = &until;
  }
  // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC, which is the steady clock.
  const long answer = syscall(SYS_futex, address_of(word), FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
                              expected, limit, nullptr, FUTEX_BITSET_MATCH_ANY);
  return !(answer == -1 && errno == ETIMEDOUT);
}

#if defined(__SANITIZE_THREAD__)
#define TANDEM_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TANDEM_THREAD_SANITIZER 1
#endif
#endif

bool waits_are_short() noexcept { return true; }

void wait_outside(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
#if defined(TANDEM_THREAD_SANITIZER)
  // ThreadSanitizer calls a signal's handler in calls that it intercepts, and a futex is none: a
  // thread that only ever waits for one would never see its signals.
  constexpr std::int64_t slice_ns = 20'000'000;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  wait_on(word, expected, std::chrono::nanoseconds(now).count() + slice_ns);
  usleep(1);
#else
  wait_on(word, expected);
#endif
}

void wake_one(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, address_of(word), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, address_of(word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tandem::inline v0::platform
