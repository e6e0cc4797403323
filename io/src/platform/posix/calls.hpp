// calls.hpp: sockets and pipes made in several steps, sends around which SIGPIPE is held back.
// SPDX-License-Identifier: MIT
//
// Between a descriptor's birth and the call that keeps it from being inherited a fork() and exec of
// another thread may pass it on: POSIX has no remedy.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "platform/unix/numbered_message.hpp"
#include "platform/unix/without_sigpipe.hpp"

namespace tandem::inline v0::io::platform {

/// Of a socket that is written to. Where the option is missing each send holds the signal back.
/// @returns  whether it is kept: macOS refuses the option once the peer has reset the connection
inline bool is_kept_from_signals([[maybe_unused]] int socket) noexcept {
#if defined(SO_NOSIGPIPE)
  int on = 1;
  return ::setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) == 0;
#else
  return true;
#endif
}
inline void keep_from_signals(int socket) noexcept { (void)is_kept_from_signals(socket); }

inline void keep_from_exec(int descriptor) noexcept {
  (void)::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

inline int open_socket(int family, int type, int protocol) noexcept {
  const int made = ::socket(family, type, protocol);
  if (made < 0) return made;
  keep_from_exec(made);
  keep_from_signals(made);
  return made;
}

inline int accept_connection(int listener) noexcept {
  const int made = ::accept(listener, nullptr, nullptr);
  if (made < 0) return made;
  keep_from_exec(made);
  if (!is_kept_from_signals(made)) {  // a write would end the program
    ::close(made);
    errno = ECONNABORTED;
    return -1;
  }
  // BSD's take this from the listener.
  const int status = ::fcntl(made, F_GETFL);
  if (status >= 0 && (status & O_NONBLOCK) != 0) {
    (void)::fcntl(made, F_SETFL, status & ~O_NONBLOCK);
  }
  return made;
}

inline int open_pipe(int (&ends)[2]) noexcept {
  const int answer = ::pipe(ends);
  if (answer != 0) return answer;
  for (const int each : ends) keep_from_exec(each);
  return answer;
}

inline int open_socket_pair(int type, int* ends) noexcept {
  const int answer = ::socketpair(AF_UNIX, type, 0, ends);
  if (answer != 0) return answer;
  for (int i = 0; i < 2; ++i) {
    keep_from_exec(ends[i]);
    keep_from_signals(ends[i]);
  }
  return answer;
}
inline ssize_t receive_message(int socket, msghdr& message) noexcept {
  return ::recvmsg(socket, &message, MSG_DONTWAIT);
}

/// For a folder on the way of a path. Where there is nothing less it has to be readable.
#if defined(O_SEARCH)
inline constexpr int folder_access = O_SEARCH;
#else
inline constexpr int folder_access = O_RDONLY;
#endif

inline ssize_t send_bytes(int socket, const void* data, std::size_t bytes) noexcept {
  return without_sigpipe([&] { return ::send(socket, data, bytes, MSG_DONTWAIT); });
}
inline ssize_t send_message(int socket, const msghdr& message, bool) noexcept {
  return without_sigpipe([&] { return ::sendmsg(socket, &message, MSG_DONTWAIT); });
}

/// One by one: what has come or gone before the first failure.
template <class Call>
int each_message(numbered_message* messages, unsigned count, Call call) noexcept {
  unsigned done = 0;
  while (done < count) {
    const ssize_t bytes = call(messages[done].header);
    if (bytes < 0) break;
    messages[done++].bytes = static_cast<unsigned>(bytes);
  }
  return done != 0 ? static_cast<int>(done) : -1;
}
inline int receive_messages(int socket, numbered_message* messages, unsigned count) noexcept {
  return each_message(messages, count, [socket](msghdr& header) {
    return ::recvmsg(socket, &header, MSG_DONTWAIT);
  });
}
inline int send_messages(int socket, numbered_message* messages, unsigned count) noexcept {
  return each_message(messages, count, [socket](const msghdr& header) {
    return send_message(socket, header, false);
  });
}

}  // namespace tandem::inline v0::io::platform
