// child_calls.hpp: what a child calls between fork and exec, of what POSIX allows there.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#define TANDEM_IN_CHILD

namespace tandem::inline v0::io::platform {

inline int duplicate_above(int descriptor, int least) noexcept {
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, least);
}
inline bool duplicate_to(int from, int to) noexcept { return ::dup2(from, to) >= 0; }
inline bool keep_across_exec(int descriptor) noexcept {
  return ::fcntl(descriptor, F_SETFD, 0) == 0;
}

inline void give_up_between(int first, int last) noexcept {
  // Where there is no limit, or none that one could count to, as far as systems let one by default.
  constexpr long where_unlimited = 1 << 20;
  const long most = ::sysconf(_SC_OPEN_MAX);
  const long end = most > 0 && most < where_unlimited ? most : where_unlimited;
  for (long each = first; each <= last && each < end; ++each) {
    (void)::fcntl(static_cast<int>(each), F_SETFD, FD_CLOEXEC);
  }
}

inline int set_signal(int number, const struct sigaction* next, struct sigaction* before) noexcept {
  return ::sigaction(number, next, before);
}
inline void unblock_signals() noexcept {
  sigset_t none;
  ::sigemptyset(&none);
  (void)::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace tandem::inline v0::io::platform
