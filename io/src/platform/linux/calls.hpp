// calls.hpp: sockets and pipes made in one step, sends without a signal.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <tandem/io/detail/segment_window.hpp>

#include "platform/unix/numbered_message.hpp"

namespace tandem::inline v0::io::platform {

inline int open_socket(int family, int type, int protocol) noexcept {
  return ::socket(family, type | SOCK_CLOEXEC, protocol);
}
inline int accept_connection(int listener) noexcept {
  return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
}
inline int open_pipe(int (&ends)[2]) noexcept { return ::pipe2(ends, O_CLOEXEC); }
inline int open_socket_pair(int type, int* ends) noexcept {
  return ::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends);
}
inline ssize_t receive_message(int socket, msghdr& message) noexcept {
  return ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
}
inline void keep_from_exec(int) noexcept {}  // they come so

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
inline int receive_messages(int socket, numbered_message* messages, unsigned count) noexcept {
  static_assert(sizeof(numbered_message) == sizeof(mmsghdr));
  static_assert(offsetof(numbered_message, bytes) == offsetof(mmsghdr, msg_len));
  return ::recvmmsg(socket, reinterpret_cast<mmsghdr*>(messages), count,  // NOLINT: see above
                    MSG_DONTWAIT, nullptr);
}
inline int send_messages(int socket, numbered_message* messages, unsigned count) noexcept {
  return ::sendmmsg(socket, reinterpret_cast<mmsghdr*>(messages), count,  // NOLINT: see above
                    MSG_DONTWAIT | MSG_NOSIGNAL);
}
/// For a folder on the way of a path: it need not be readable.
inline constexpr int folder_access = O_PATH;
inline void keep_from_signals(int) noexcept {}  // each send says so

}  // namespace tandem::inline v0::io::platform
