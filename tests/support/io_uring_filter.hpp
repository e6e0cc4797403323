// io_uring_filter.hpp: makes this process one that io_uring is refused to.
// SPDX-License-Identifier: MIT
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <iterator>

#include "required.hpp"

namespace tandem::test {

/// Whether to leave out what needs io_uring: the host refuses it, and nobody asked for every test.
inline bool does_without_io_uring() {
  if (every_test_is_required()) return false;
  alignas(8) unsigned char parameters[120] = {};
  const long ring = ::syscall(SYS_io_uring_setup, 1, parameters);
  if (ring >= 0) ::close(static_cast<int>(ring));
  return ring < 0;
}

/// From here on io_uring's system calls fail with this error number, in this process and in what it
/// starts, for good. @returns false if the host does not let us (errno)
inline bool refuse_io_uring(int error) {
  const unsigned answer = SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA);
  static_assert(SYS_io_uring_enter == SYS_io_uring_setup + 1);
  static_assert(SYS_io_uring_register == SYS_io_uring_setup + 2);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SYS_io_uring_setup, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_io_uring_register, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace tandem::test
