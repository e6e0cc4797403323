// attempt.cpp: the system calls of each kind of operation, none of which blocks.
// SPDX-License-Identifier: MIT
//
// Sockets may be in blocking mode: transfers say MSG_DONTWAIT, accept and connect set the mode, and
// what is no socket is asked by poll() first.
#include "platform/attempt.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "platform/linux/message.hpp"
#include "platform/linux/socket_address.hpp"

namespace tandem::inline v0::io {

namespace {

using detail::operation;
using detail::operation_kind;

/// The outcome of a call that answers with -1 and errno.
std::int32_t outcome_of(ssize_t answer) noexcept {
  if (answer >= 0) return static_cast<std::int32_t>(answer);
  return errno == EAGAIN || errno == EWOULDBLOCK ? would_block : -errno;
}

/// What one call moves at most: an outcome holds 32 bits. A shorter transfer is no error.
std::size_t transfer_bytes(const operation& operation) noexcept {
  return std::min<std::size_t>(operation.bytes(), 0x7ffff000);
}

bool is_ready(int descriptor, short events) noexcept {
  pollfd asked{descriptor, events, 0};
  int answer = 0;
  do answer = ::poll(&asked, 1, 0);
  while (answer < 0 && errno == EINTR);  // which says nothing of the descriptor
  return answer != 0;  // another error is told by the call that follows
}

/// For an operation that is followed by no call of ours.
std::int32_t readiness(int descriptor, short events) noexcept {
  pollfd asked{descriptor, events, 0};
  const int ready = ::poll(&asked, 1, 0);
  if (ready < 0) return -errno;
  if (ready == 0) return would_block;
  return (asked.revents & POLLNVAL) != 0 ? -EBADF : 0;
}

std::int32_t begin_connect(operation& operation) noexcept {
  set_non_blocking(operation.descriptor());
  const socket_address peer(operation.peer());
  if (::connect(operation.descriptor(), peer.data(), peer.size()) == 0) return 0;
  // Interrupted or not: it goes on by itself. Likewise if it was begun on another thread
  // (moving/cancel).
  if (errno == EISCONN) return 0;
  return errno == EINPROGRESS || errno == EINTR || errno == EALREADY ? would_block : -errno;
}

std::int32_t connect_outcome(int descriptor) noexcept {
  if (!is_ready(descriptor, POLLOUT)) return would_block;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return -errno;
  return -error;
}

}  // namespace

void set_non_blocking(int descriptor) noexcept {
  int on = 1;
  (void)::ioctl(descriptor, FIONBIO, &on);  // fails with what the call that follows fails with
}

direction direction_of(operation_kind kind) noexcept {
  switch (kind) {
    case operation_kind::connect:
    case operation_kind::send:
    case operation_kind::send_all:
    case operation_kind::send_all_vector:
    case operation_kind::wait_writable: return direction::write;
    case operation_kind::accept:
    case operation_kind::receive:
    case operation_kind::receive_vector:
    case operation_kind::wait_readable:
    case operation_kind::read_file:
    case operation_kind::file: break;
  }
  return direction::read;
}

bool is_tried_first(operation_kind kind) noexcept {
  return kind != operation_kind::accept && kind != operation_kind::connect &&
         kind != operation_kind::read_file && kind != operation_kind::file;
}

bool is_our_socket(operation_kind kind) noexcept {
  return kind != operation_kind::read_file && kind != operation_kind::wait_readable &&
         kind != operation_kind::wait_writable && kind != operation_kind::file;
}

std::int32_t begin_attempt(operation& operation) noexcept {
  if (operation.kind() == operation_kind::connect) return begin_connect(operation);
  // A connection that is taken by another process, or reset, between poll() and accept() would
  // block us.
  if (operation.kind() == operation_kind::accept) set_non_blocking(operation.descriptor());
  return next_attempt(operation);
}

std::int32_t next_attempt(operation& operation) noexcept {
  const int descriptor = operation.descriptor();
  switch (operation.kind()) {
    case operation_kind::accept:
      return outcome_of(::accept4(descriptor, nullptr, nullptr, SOCK_CLOEXEC));
    case operation_kind::connect: return connect_outcome(descriptor);
    case operation_kind::receive:
      return outcome_of(
          ::recv(descriptor, operation.buffer(), transfer_bytes(operation), MSG_DONTWAIT));
    case operation_kind::send:
    case operation_kind::send_all:
      return outcome_of(::send(descriptor, operation.buffer(), transfer_bytes(operation),
                               MSG_DONTWAIT | MSG_NOSIGNAL));
    case operation_kind::receive_vector: {
      msghdr header = message_of(operation.window());
      return outcome_of(::recvmsg(descriptor, &header, MSG_DONTWAIT));
    }
    case operation_kind::send_all_vector: {
      const msghdr header = message_of(operation.window());
      return outcome_of(
          ::sendmsg(descriptor, &header, MSG_DONTWAIT | send_flags(operation.window())));
    }
    case operation_kind::wait_readable: return readiness(descriptor, POLLIN);
    case operation_kind::wait_writable: return readiness(descriptor, POLLOUT);
    case operation_kind::read_file:
      if (!is_ready(descriptor, POLLIN)) return would_block;
      return outcome_of(::read(descriptor, operation.buffer(), transfer_bytes(operation)));
    case operation_kind::file: break;  // takes_files() says no
  }
  return -ENOTSUP;
}

}  // namespace tandem::inline v0::io
