// calls.hpp: sockets and pipes made in one step, sends without a signal.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <tandem/io/detail/segment_window.hpp>

namespace tandem::inline v0::io::platform {

inline int open_socket(int family, int type, int protocol) noexcept {
  return ::socket(family, type | SOCK_CLOEXEC, protocol);
}
inline int accept_connection(int listener) noexcept {
  return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
}
inline int open_pipe(int (&ends)[2]) noexcept { return ::pipe2(ends, O_CLOEXEC); }

/// While more buffers follow the system need not send a part of a packet.
inline int send_flags(bool more_follows) noexcept {
  return MSG_NOSIGNAL | (more_follows ? MSG_MORE : 0);
}
inline ssize_t send_bytes(int socket, const void* data, std::size_t bytes) noexcept {
  return ::send(socket, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
}
inline ssize_t send_message(int socket, const msghdr& message, bool more_follows) noexcept {
  return ::sendmsg(socket, &message, MSG_DONTWAIT | send_flags(more_follows));
}
/// For a folder on the way of a path: it need not be readable.
inline constexpr int folder_access = O_PATH;
inline void keep_from_signals(int) noexcept {}  // each send says so

}  // namespace tandem::inline v0::io::platform
