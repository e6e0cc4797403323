// child_calls.hpp: what a child calls before exec, past the wrappers of sanitizers.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

// The child has its parent's memory, in which a sanitizer would note what the child has done.
#if defined(__clang__)
#define TANDEM_IN_CHILD __attribute__((disable_sanitizer_instrumentation))
#else
#define TANDEM_IN_CHILD \
  __attribute__((no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))
#endif

#if defined(__GLIBC__)
// By the names under which sanitizers do not wrap them.
extern "C" int __sigaction(int number, const struct sigaction* next,  // NOLINT: glibc's name
                           struct sigaction* before) noexcept;
#define TANDEM_SIGACTION ::__sigaction
#else
#define TANDEM_SIGACTION ::sigaction
#endif

namespace tandem::inline v0::io::platform {

TANDEM_IN_CHILD inline int duplicate_above(int descriptor, int least) noexcept {
  return static_cast<int>(::syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, least));
}
TANDEM_IN_CHILD inline bool duplicate_to(int from, int to) noexcept {
  return ::syscall(SYS_dup3, from, to, 0) >= 0;
}
TANDEM_IN_CHILD inline bool keep_across_exec(int descriptor) noexcept {
  return ::syscall(SYS_fcntl, descriptor, F_SETFD, 0) == 0;
}

/// Of the entries of a folder, as the kernel writes them.
struct directory_entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  unsigned char type;
  char name[1];
};

/// @returns  a number of at least 0, or -1: the name is none
TANDEM_IN_CHILD inline int number_of(const char* name) noexcept {
  int number = 0;
  if (*name == 0) return -1;
  for (; *name != 0; ++name) {
    if (*name < '0' || *name > '9') return -1;
    number = number * 10 + (*name - '0');
  }
  return number;
}

/// Where there is no close_range(): before Linux 5.11, or behind a container's filter.
TANDEM_IN_CHILD inline void give_up_listed(int first, int last) noexcept {
  const long folder =
      ::syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0) {  // no /proc either: as many as there may be
    rlimit most{};
    if (::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &most) != 0) most.rlim_cur = 1024;
    for (int each = first; each <= last && static_cast<rlim_t>(each) < most.rlim_cur; ++each) {
      (void)::syscall(SYS_fcntl, each, F_SETFD, FD_CLOEXEC);
    }
    return;
  }
  alignas(directory_entry) char room[1024];
  for (long count = 0; (count = ::syscall(SYS_getdents64, folder, room, sizeof room)) > 0;) {
    for (long at = 0; at < count;) {
      const auto* const entry = reinterpret_cast<const directory_entry*>(room + at);  // NOLINT
      const int each = number_of(entry->name);
      if (each >= first && each <= last) (void)::syscall(SYS_fcntl, each, F_SETFD, FD_CLOEXEC);
      at += entry->bytes;
    }
  }
  (void)::syscall(SYS_close, folder);
}

TANDEM_IN_CHILD inline void give_up_between(int first, int last) noexcept {
#if defined(SYS_close_range)
  constexpr unsigned at_exec = 4;  // CLOSE_RANGE_CLOEXEC
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), static_cast<unsigned>(last),
                at_exec) == 0) {
    return;
  }
#endif
  give_up_listed(first, last);
}

TANDEM_IN_CHILD inline int set_signal(int number, const struct sigaction* next,
                                      struct sigaction* before) noexcept {
  return TANDEM_SIGACTION(number, next, before);
}
TANDEM_IN_CHILD inline void unblock_signals() noexcept {
  const std::uint64_t none = 0;
  (void)::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
}

}  // namespace tandem::inline v0::io::platform
