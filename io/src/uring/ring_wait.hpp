// ring_wait.hpp: how a ring's owner waits: one call that submits what is there and waits.
// SPDX-License-Identifier: MIT
//
// Since 6.5 the kernel counts a thread that waits in io_uring_enter() with anything in flight as
// one that waits for a disk, so that an idle process with rings shows as 100 % iowait. Linux 6.15
// has a flag against that, for each call. liburing passes it from 2.10 on only, so the call is made
// here, where the kernel says that it knows the flag; else liburing makes it.
#pragma once

#include <liburing.h>

namespace tandem::inline v0::io {

class ring_wait {
 public:
  /// After the ring was set up, and its descriptor registered or not.
  void set_up(const io_uring& ring, bool is_registered) noexcept;

  /// @param limit  null: none
  /// @returns      as io_uring_submit_and_wait() and io_uring_submit_and_wait_timeout() do
  int submit_and_wait(io_uring& ring, __kernel_timespec* limit) const noexcept;

 private:
  unsigned flags_ = 0;  // of the call; 0: it is left to liburing
};

}  // namespace tandem::inline v0::io
