// afd_device.hpp: \Device\Afd, the driver of sockets, asked for readiness as select() asks it.
// SPDX-License-Identifier: MIT
//
// Its interface is documented nowhere, and unchanged since Windows NT: the libraries of other
// languages (libuv, mio, wepoll) rest on it. The names are those of ReactOS and wepoll.
#pragma once

#include <cstdint>
#include <memory>
#include <tandem/io/native_descriptor.hpp>
#include <vector>

#include "iocp/lent_memory.hpp"
#include "platform/windows/native_calls.hpp"
#include "platform/windows/system.hpp"
#include "readiness/registration.hpp"

namespace tandem::inline v0::io {

// Laid out as the driver takes it.
struct afd_poll_handle {
  HANDLE handle;
  ULONG events;
  NTSTATUS status;
};
struct afd_poll_info {
  LARGE_INTEGER timeout;
  ULONG count;
  ULONG exclusive;
  afd_poll_handle handles[1];
};

class afd_watch;

/// One poll: lies still until its packet has been dequeued, whatever becomes of its watch.
class afd_poll {
 public:
  afd_poll() = default;
  afd_poll(const afd_poll&) = delete;
  afd_poll& operator=(const afd_poll&) = delete;
  ~afd_poll() { memory_given_up(this); }

  IO_STATUS_BLOCK status{};
  afd_poll_info info{};
  afd_watch* watch = nullptr;  // null: it has gone
  direction way = direction::read;
  bool is_pending = false;
  afd_poll* next = nullptr;  // among those whose watch has gone
};

/// Handles of the driver, bound to a port, each for some sockets: the polls of one handle are in
/// one list of the kernel's, which cancelling looks through.
class afd_device {
 public:
  static constexpr unsigned sockets_each = 32;
  class group {
   public:
    HANDLE handle = nullptr;
    unsigned sockets = 0;
  };

  explicit afd_device(HANDLE port, ULONG_PTR key) noexcept : port_(port), key_(key) {}
  afd_device(const afd_device&) = delete;
  afd_device& operator=(const afd_device&) = delete;
  ~afd_device();

  /// iocp/group. @returns  null and an error number, or one that has room, which is taken
  /// @throws  std::bad_alloc
  group* take(int& error);
  static void give_back(group& from) noexcept { --from.sockets; }
  /// Makes the first one, so that a system without the driver is known at once.
  /// @returns 0 or an error number. @throws std::bad_alloc
  int probe();

  /// iocp/poll. @returns  0: a packet comes, with `poll` as its OVERLAPPED; or an error number
  static int begin(const group& at, afd_poll& poll, HANDLE base, direction way) noexcept;
  /// iocp/cancel. pre: pending. Its packet still comes.
  static void cancel(const group& at, afd_poll& poll) noexcept;

  /// The socket beneath all layers that others have put over it. @returns 0 or an error number
  static int base_of(native_descriptor socket, HANDLE& base) noexcept;

 private:
  /// @returns  0 or an error number
  int open(HANDLE& made) const noexcept;

  const HANDLE port_;
  const ULONG_PTR key_;
  std::vector<std::unique_ptr<group>> groups_;
};

}  // namespace tandem::inline v0::io
