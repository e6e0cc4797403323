// futex.cpp: WaitOnAddress and WakeByAddress.
// SPDX-License-Identifier: MIT
#include "platform/futex.hpp"

#include <algorithm>
#include <chrono>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::platform {

namespace {

std::int64_t now_ns() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

bool wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected,
             std::int64_t deadline_ns) noexcept {
  DWORD limit_ms = INFINITE;
  if (deadline_ns != no_deadline) {
    const std::int64_t now = now_ns();
    // Relaxed: whoever waits looks again.
    if (deadline_ns <= now) return word.load(std::memory_order_relaxed) != expected;
    const std::int64_t left_ns = deadline_ns - now;
    // Rounded up: whoever woke before the deadline would only look and sleep again.
    constexpr std::int64_t longest_ms = 1'000'000'000;
    limit_ms = static_cast<DWORD>(std::min((left_ns + 999'999) / 1'000'000, longest_ms));
  }
  if (::WaitOnAddress(&word, &expected, sizeof expected, limit_ms) != 0) return true;
  return deadline_ns == no_deadline || now_ns() < deadline_ns;
}

bool waits_are_short() noexcept { return false; }

void wait_outside(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  // Handlers of console events have a thread of their own.
  wait_on(word, expected);
}

void wake_one(std::atomic<std::uint32_t>& word) noexcept { ::WakeByAddressSingle(&word); }

void wake_all(std::atomic<std::uint32_t>& word) noexcept { ::WakeByAddressAll(&word); }

}  // namespace tandem::inline v0::platform
