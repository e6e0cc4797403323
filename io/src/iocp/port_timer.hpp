// port_timer.hpp: a deadline that comes as a packet of a port, finer than the system's tick where one can be had.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "platform/windows/native_calls.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io {

/// One thread's.
class port_timer {
 public:
  using clock = std::chrono::steady_clock;

  /// Where the system has not what it takes, set() says so each time.
  port_timer(HANDLE port, ULONG_PTR key) noexcept;
  port_timer(const port_timer&) = delete;
  port_timer& operator=(const port_timer&) = delete;
  ~port_timer();

  /// iocp/deadline. A packet comes no earlier than that; one that is set for an earlier time stays:
  /// it costs a round.
  /// @returns  false: none comes, so the wait itself has to end by then
  bool set(clock::time_point deadline) noexcept;
  /// Its packet was dequeued.
  void told() noexcept { is_set_ = false; }

 private:
  using associate_function = NTSTATUS(NTAPI*)(HANDLE, HANDLE, HANDLE, PVOID, PVOID, NTSTATUS,
                                              ULONG_PTR, BOOLEAN*);
  using cancel_function = NTSTATUS(NTAPI*)(HANDLE, BOOLEAN);

  const HANDLE port_;
  const ULONG_PTR key_;
  const associate_function associate_;
  const cancel_function cancel_;
  HANDLE timer_ = nullptr;
  HANDLE packet_ = nullptr;
  bool is_set_ = false;
  clock::time_point due_{};
};

}  // namespace tandem::inline v0::io
