// process_wait.cpp: RegisterWaitForSingleObject(), and that each wait has exactly one packet.
// SPDX-License-Identifier: MIT
#include "iocp/process_wait.hpp"

#include <utility>

namespace tandem::inline v0::io {

int process_wait::begin(HANDLE process, afd_poll& poll) noexcept {
  memory_given_up(&poll);
  poll.way = direction::read;
  poll.status.Status = 0;
  poll_ = &poll;
  is_posted_.store(false, std::memory_order_relaxed);  // nobody else is there yet
  if (::RegisterWaitForSingleObject(&wait_, process, &process_wait::ended, this, INFINITE,
                                    WT_EXECUTEINWAITTHREAD | WT_EXECUTEONLYONCE) == 0) {
    wait_ = nullptr;
    return platform::last_number();
  }
  memory_lent(&poll);
  poll.is_pending = true;
  return 0;
}

VOID CALLBACK process_wait::ended(void* self, BOOLEAN /*is_late*/) noexcept {
  auto& wait = *static_cast<process_wait*>(self);
  // Relaxed: cancel() reads it when this has returned, which UnregisterWaitEx() has seen.
  wait.is_posted_.store(true, std::memory_order_relaxed);
  // After the post the wait may be another one, or gone.
  wait.post(wait.poll_);
}

void process_wait::post(afd_poll* poll) const noexcept {
  const HANDLE port = port_;
  const ULONG_PTR key = key_;
  auto* const packet = reinterpret_cast<OVERLAPPED*>(poll);  // NOLINT: as afd_device::begin
  // Only for want of the kernel's memory can it fail; whoever waits has to hear of it all the same.
  while (::PostQueuedCompletionStatus(port, 0, key, packet) == 0) ::Sleep(1);
}

void process_wait::cancel() noexcept {
  if (wait_ == nullptr) return;
  // Waits until ended() has returned, if it runs.
  (void)::UnregisterWaitEx(std::exchange(wait_, nullptr), INVALID_HANDLE_VALUE);
  if (!is_posted_.load(std::memory_order_relaxed)) post(poll_);
}

void process_wait::told() noexcept {
  // The system's memory of it; ended() has posted, and uses nothing of ours any more.
  if (wait_ != nullptr) (void)::UnregisterWaitEx(std::exchange(wait_, nullptr), nullptr);
}

}  // namespace tandem::inline v0::io
