// watch_calls.hpp: calls that wait for changes, whose packets come to one port.
// SPDX-License-Identifier: MIT
//
// iocp/changes: io/src/iocp/README.md.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "platform/windows/system.hpp"
#include "platform/windows/watched_path.hpp"

namespace tandem::inline v0::io::platform {

/// Owns the calls that are under way. Any thread begins them; the port's owner does the rest.
class watch_calls {
 public:
  /// @param key  of the packets
  watch_calls(HANDLE port, ULONG_PTR key) noexcept : port_(port), key_(key) {}
  watch_calls(const watch_calls&) = delete;
  watch_calls& operator=(const watch_calls&) = delete;

  /// pre: the lock of its queue is held; its handle is bound to no port
  /// @returns  0, or a code of Windows. @throws std::bad_alloc
  DWORD begin(std::unique_ptr<watch_call> call);
  void told(const OVERLAPPED_ENTRY& packet) noexcept;
  /// pre: nobody begins anything any more
  void cancel_all() noexcept;
  bool is_idle() noexcept;

 private:
  const HANDLE port_;
  const ULONG_PTR key_;
  std::mutex lock_;  // taken after that of a queue
  std::unordered_map<watch_call*, std::unique_ptr<watch_call>> under_way_;  // guarded by lock_
};

}  // namespace tandem::inline v0::io::platform
