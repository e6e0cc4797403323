// pollable.cpp: a waitable timer that is set to now, or to the deadline.
// SPDX-License-Identifier: MIT
#include "platform/pollable.hpp"

#include <chrono>
#include <mutex>

#include <tandem/detail/futex_mutex.hpp>

#include "platform/futex.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::platform {

/// A manual-reset waitable timer: it stays signalled once its time has come, and setting it anew
/// resets it.
struct pollable::parts {
  HANDLE timer = nullptr;
  detail::futex_mutex lock;  // of whoever sets the timer
  bool notified = false;  // under the lock: the timer stands at now, and stays there until clear()

  /// pre: under the lock
  void set(std::int64_t left_ns) const noexcept {
    LARGE_INTEGER due{};
    // Negative: from now on. Rounded up; 0 is a time of the calendar that is over, for which no
    // tick has to come.
    due.QuadPart = -((left_ns + ns_per_step - 1) / ns_per_step);
    (void)::SetWaitableTimer(timer, &due, 0, nullptr, nullptr, FALSE);
  }
  void set_none() const noexcept {
    // Cancelling leaves it signalled if it is: set far away it is not.
    LARGE_INTEGER due{};
    due.QuadPart = INT64_MIN / 2;
    (void)::SetWaitableTimer(timer, &due, 0, nullptr, nullptr, FALSE);
    (void)::CancelWaitableTimer(timer);
  }
};

pollable::pollable() : parts_(std::make_unique<parts>()) {
  constexpr DWORD high_resolution = 2;  // CREATE_WAITABLE_TIMER_HIGH_RESOLUTION: Windows 10, 1803
  constexpr DWORD manual_reset = CREATE_WAITABLE_TIMER_MANUAL_RESET;
  HANDLE timer =
      ::CreateWaitableTimerExW(nullptr, nullptr, manual_reset | high_resolution, TIMER_ALL_ACCESS);
  if (timer == nullptr) {
    timer = ::CreateWaitableTimerExW(nullptr, nullptr, manual_reset, TIMER_ALL_ACCESS);
  }
  if (timer == nullptr) {
    throw std::system_error(last_error(),
                            "no handle for a foreign event loop: CreateWaitableTimerExW");
  }
  parts_->timer = timer;
}

pollable::~pollable() { ::CloseHandle(parts_->timer); }

pollable_handle pollable::handle() const noexcept { return parts_->timer; }

void pollable::notify() noexcept {
  const std::lock_guard lock(parts_->lock);
  if (parts_->notified) return;
  parts_->notified = true;
  parts_->set(0);
}

void pollable::clear() noexcept {
  const std::lock_guard lock(parts_->lock);
  parts_->notified = false;
  parts_->set_none();
}

void pollable::set_deadline(std::int64_t deadline_ns) noexcept {
  const std::lock_guard lock(parts_->lock);
  if (parts_->notified) return;  // readable already
  if (deadline_ns == no_deadline) {
    parts_->set_none();
    return;
  }
  const auto since_epoch = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t now = std::chrono::nanoseconds(since_epoch).count();
  parts_->set(deadline_ns <= now ? 0 : deadline_ns - now);
}

}  // namespace tandem::inline v0::platform
