// attempt.cpp: the system calls of each kind of operation, none of which blocks.
// SPDX-License-Identifier: MIT
//
// Sockets may be in blocking mode: transfers say MSG_DONTWAIT, accept and connect set the mode. Our
// ends of pipes do not block; what is neither is asked by poll() first.
#include "platform/attempt.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "platform/datagrams.hpp"
#include "platform/local_sockets.hpp"
#include "platform/two_ends.hpp"
#include "platform/unix/call_limit.hpp"
#include "platform/unix/calls.hpp"
#include "platform/unix/datagram_message.hpp"
#include "platform/unix/message.hpp"
#include "platform/unix/shared_transfer.hpp"
#include "platform/unix/socket_address.hpp"
#include "platform/unix/without_sigpipe.hpp"

namespace tandem::inline v0::io::platform {

namespace {

using detail::operation;
using detail::operation_kind;

/// The outcome of a call that answers with -1 and errno.
std::int32_t outcome_of(ssize_t answer) noexcept {
  if (answer >= 0) return static_cast<std::int32_t>(answer);
  return errno == EAGAIN || errno == EWOULDBLOCK ? would_block : -errno;
}

bool is_ready(int descriptor, short events) noexcept {
  pollfd asked{descriptor, events, 0};
  int answer = 0;
  do answer = ::poll(&asked, 1, 0);
  while (answer < 0 && errno == EINTR);  // which says nothing of the descriptor
  return answer != 0;  // another error is told by the call that follows
}

/// For an operation that is followed by no call of ours. Its outcome is that of the ring's poll.
std::int32_t readiness(int descriptor, short events) noexcept {
  pollfd asked{descriptor, events, 0};
  const int ready = ::poll(&asked, 1, 0);
  if (ready < 0) return -errno;
  if (ready == 0) return would_block;
  return (asked.revents & POLLNVAL) != 0 ? -EBADF : asked.revents;
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

std::int32_t receive_from(operation& operation) noexcept {
  datagram_message message(operation.of_datagram());
  const std::int32_t outcome =
      outcome_of(::recvmsg(operation.descriptor(), &message.header(), MSG_DONTWAIT));
  if (outcome >= 0) message.tell(operation.of_datagram());
  return outcome;
}

/// What there is only of a socket that somebody has told to keep it (IP_RECVERR, time stamps).
void drop_errors([[maybe_unused]] int descriptor) noexcept {
#if defined(MSG_ERRQUEUE)
  ssize_t answer = 0;
  do {
    msghdr nothing_of_it{};
    answer = ::recvmsg(descriptor, &nothing_of_it, MSG_ERRQUEUE | MSG_DONTWAIT);
  } while (answer >= 0 || errno == EINTR);
#endif
}

std::int32_t send_to(const operation& operation) noexcept {
  datagram_message message(std::as_const(operation.of_datagram()));
  return outcome_of(send_message(operation.descriptor(), message.header(), false));
}

}  // namespace

void set_non_blocking(native_descriptor descriptor) noexcept {
  int on = 1;
  (void)::ioctl(descriptor, FIONBIO, &on);  // fails with what the call that follows fails with
}

std::int32_t accept_now(native_descriptor listener) noexcept {
  return outcome_of(accept_connection(listener));
}

std::int32_t receive_now(native_descriptor socket, void* data, std::size_t bytes) noexcept {
  return outcome_of(::recv(socket, data, capped(bytes), MSG_DONTWAIT));
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
    case operation_kind::accept: return accept_now(descriptor);
    case operation_kind::connect: return connect_outcome(descriptor);
    case operation_kind::receive:
      return receive_now(descriptor, operation.buffer(), operation.bytes());
    case operation_kind::send:
    case operation_kind::send_all:
    case operation_kind::send_zero_copy:
      return outcome_of(send_bytes(descriptor, operation.buffer(), capped(operation.bytes())));
    case operation_kind::receive_vector: {
      msghdr header = message_of(operation.window());
      return outcome_of(::recvmsg(descriptor, &header, MSG_DONTWAIT));
    }
    case operation_kind::send_all_vector: {
      const msghdr header = message_of(operation.window());
      return outcome_of(send_message(descriptor, header, operation.window().more()));
    }
    case operation_kind::receive_from: return receive_from(operation);
    case operation_kind::send_to: return send_to(operation);
    case operation_kind::receive_batch: return receive_batch(operation);
    case operation_kind::send_train: return send_train(operation);
    case operation_kind::send_datagrams: return send_datagrams(operation);
    case operation_kind::receive_message: return receive_local(operation);
    case operation_kind::send_message: return send_local(operation);
    case operation_kind::read_shared:
      return outcome_of(read_shared(descriptor, operation.buffer(), capped(operation.bytes())));
    case operation_kind::write_shared:
    case operation_kind::write_all_shared:
      return outcome_of(write_shared(descriptor, operation.buffer(), capped(operation.bytes())));
    case operation_kind::send_file: return send_file(operation);
    case operation_kind::fill_pipe: return fill_pipe(operation);
    case operation_kind::drain_pipe: return drain_pipe(operation);
    case operation_kind::read_pipe:
      return outcome_of(::read(descriptor, operation.buffer(), capped(operation.bytes())));
    case operation_kind::write_pipe:
    case operation_kind::write_all_pipe:
      return outcome_of(holding_sigpipe(
          [&] { return ::write(descriptor, operation.buffer(), capped(operation.bytes())); }));
    case operation_kind::wait_readable:
    case operation_kind::wait_process: return readiness(descriptor, POLLIN);
    case operation_kind::wait_writable: return readiness(descriptor, POLLOUT);
    case operation_kind::read_own:
      if (!is_ready(descriptor, POLLIN)) return would_block;
      return outcome_of(::read(descriptor, operation.buffer(), capped(operation.bytes())));
    case operation_kind::file: break;  // it waits for no direction
  }
  return -ENOTSUP;
}

std::int32_t attempt_when_ready(operation& operation) noexcept {
  const std::int32_t outcome = next_attempt(operation);
  const bool receives = operation.kind() == operation_kind::receive_batch ||
                        operation.kind() == operation_kind::receive_from;
  if (receives && outcome == would_block) drop_errors(operation.descriptor());
  return outcome;
}

ready_events events_of(std::int32_t outcome) noexcept {
  return {(outcome & POLLIN) != 0, (outcome & POLLOUT) != 0, (outcome & POLLERR) != 0,
          (outcome & POLLHUP) != 0};
}

}  // namespace tandem::inline v0::io::platform
