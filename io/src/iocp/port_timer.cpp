// port_timer.cpp: a waitable timer, and the packet that the system posts when it is due.
// SPDX-License-Identifier: MIT
#include "iocp/port_timer.hpp"

#include <algorithm>
#include <cstdint>

namespace tandem::inline v0::io {

namespace {

using create_function = NTSTATUS(NTAPI*)(HANDLE*, ACCESS_MASK, OBJECT_ATTRIBUTES*);

constexpr DWORD high_resolution = 2;  // CREATE_WAITABLE_TIMER_HIGH_RESOLUTION: Windows 10, 1803

}  // namespace

port_timer::port_timer(HANDLE port, ULONG_PTR key) noexcept
    : port_(port),
      key_(key),
      associate_(platform::native_call<associate_function>("NtAssociateWaitCompletionPacket")),
      cancel_(platform::native_call<cancel_function>("NtCancelWaitCompletionPacket")) {
  const auto create = platform::native_call<create_function>("NtCreateWaitCompletionPacket");
  if (create == nullptr || associate_ == nullptr || cancel_ == nullptr) return;
  if (create(&packet_, GENERIC_ALL, nullptr) < 0) {
    packet_ = nullptr;
    return;
  }
  timer_ = ::CreateWaitableTimerExW(nullptr, nullptr, high_resolution, TIMER_ALL_ACCESS);
}

port_timer::~port_timer() {
  if (packet_ != nullptr) {
    (void)cancel_(packet_, TRUE);
    ::CloseHandle(packet_);
  }
  if (timer_ != nullptr) ::CloseHandle(timer_);
}

bool port_timer::set(clock::time_point deadline) noexcept {
  if (timer_ == nullptr) return false;
  if (is_set_ && due_ <= deadline) return true;
  if (is_set_) {
    (void)cancel_(packet_, TRUE);  // and its packet, if that was posted
    is_set_ = false;
  }
  constexpr std::int64_t ns_per_step = 100;
  const std::int64_t left =
      std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - clock::now()).count();
  LARGE_INTEGER due{};
  // Negative: from now on. Rounded up; 0 would be a time of the calendar that is over.
  due.QuadPart = -std::max<std::int64_t>((left + ns_per_step - 1) / ns_per_step, 1);
  if (::SetWaitableTimer(timer_, &due, 0, nullptr, nullptr, FALSE) == 0) return false;
  BOOLEAN is_due = FALSE;
  const NTSTATUS status =
      associate_(packet_, port_, timer_, reinterpret_cast<PVOID>(key_),  // NOLINT
                 nullptr, 0, 0, &is_due);
  if (status < 0) return false;
  is_set_ = true;
  due_ = deadline;
  return true;
}

}  // namespace tandem::inline v0::io
