// process_wait.hpp: a process whose end is told at a port, by threads of the system's.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <tandem/io/native_descriptor.hpp>

#include "iocp/afd_device.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io {

/// iocp/process. One wait at a time; the owner's of the port, but for what the system calls.
class process_wait {
 public:
  process_wait(HANDLE port, ULONG_PTR key) noexcept : port_(port), key_(key) {}
  process_wait(const process_wait&) = delete;
  process_wait& operator=(const process_wait&) = delete;

  static bool is_process(native_descriptor descriptor) noexcept {
    return ::GetProcessId(platform::handle_of(descriptor)) != 0;
  }

  /// @returns  0: a packet comes, with `poll` as its OVERLAPPED; or an error number
  int begin(HANDLE process, afd_poll& poll) noexcept;
  /// pre: begun, and not told of. post: nothing of the process is used any more; the packet comes
  void cancel() noexcept;
  /// Its packet has been dequeued.
  void told() noexcept;

 private:
  static VOID CALLBACK ended(void* self, BOOLEAN is_late) noexcept;
  void post(afd_poll* poll) const noexcept;

  const HANDLE port_;
  const ULONG_PTR key_;
  afd_poll* poll_ = nullptr;
  HANDLE wait_ = nullptr;               // null: none, or it is given back
  std::atomic<bool> is_posted_{false};  // by ended(); cancel() looks when that cannot run any more
};

}  // namespace tandem::inline v0::io
