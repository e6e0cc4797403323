// without_sigpipe.hpp: a call that writes, and of which no SIGPIPE comes.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <csignal>

namespace tandem::inline v0::io::platform {

/// The signal is blocked meanwhile, and taken away if the call has raised it: it is raised at the
/// thread that writes. One that was pending before stays.
///
/// @returns  what `call` answers; errno is the call's
template <class Call>
ssize_t holding_sigpipe(Call call) noexcept {
  sigset_t pipe_alone;
  sigset_t before;
  sigset_t pending;
  ::sigemptyset(&pipe_alone);
  ::sigaddset(&pipe_alone, SIGPIPE);
  (void)::pthread_sigmask(SIG_BLOCK, &pipe_alone, &before);
  const bool was_blocked = ::sigismember(&before, SIGPIPE) == 1;
  const bool was_pending =
      was_blocked && ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGPIPE) == 1;
  const ssize_t answer = call();
  const int error = errno;
  if (answer < 0 && error == EPIPE && !was_pending) {
    int taken = 0;
    if (::sigpending(&pending) == 0 && ::sigismember(&pending, SIGPIPE) == 1) {
      (void)::sigwait(&pipe_alone, &taken);
    }
  }
  if (!was_blocked) (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return answer;
}

/// The same of a socket of ours.
template <class Call>
ssize_t without_sigpipe(Call call) noexcept {
#if defined(SO_NOSIGPIPE)
  return call();  // the socket says so
#else
  return holding_sigpipe(call);
#endif
}

}  // namespace tandem::inline v0::io::platform
