// operation_entry.hpp: ring entries of operations, and what a connect keeps beside.
// SPDX-License-Identifier: MIT
#pragma once

#include <liburing.h>
#include <netinet/in.h>
#include <poll.h>

#include <new>
#include <tandem/io/detail/operation.hpp>

#include "platform/linux/calls.hpp"
#include "platform/unix/call_limit.hpp"
#include "platform/unix/datagram_message.hpp"
#include "platform/unix/message.hpp"
#include "platform/unix/socket_address.hpp"
#include "uring/file_entry.hpp"
#include "uring/zero_copy.hpp"

namespace tandem::inline v0::io {

/// What a connect keeps in its operation's room.
class connecting {
 public:
  explicit connecting(const endpoint& peer) noexcept : address(peer) {}
  platform::socket_address address;
  bool begun_elsewhere = false;
};

inline msghdr* place_message(detail::operation& operation) noexcept {
  static_assert(sizeof(msghdr) <= detail::operation::backend_bytes);
  return ::new (operation.backend_room()) msghdr(platform::message_of(operation.window()));
}

inline void prepare_receive_from(io_uring_sqe* sqe, detail::operation& operation) noexcept {
  static_assert(sizeof(platform::datagram_message) <= detail::operation::backend_bytes);
  auto* const message =
      ::new (operation.backend_room()) platform::datagram_message(operation.of_datagram());
  io_uring_prep_recvmsg(sqe, operation.descriptor(), &message->header(), 0);
}

/// As prepare_receive_from() has placed it.
inline platform::datagram_message& message_of(detail::operation& operation) noexcept {
  return *std::launder(
      reinterpret_cast<platform::datagram_message*>(operation.backend_room()));  // NOLINT
}

inline void prepare_send_to(io_uring_sqe* sqe, detail::operation& operation) noexcept {
  const detail::datagram& what = operation.of_datagram();
  auto* const message = ::new (operation.backend_room()) platform::datagram_message(what);
  io_uring_prep_sendmsg(sqe, operation.descriptor(), &message->header(), MSG_NOSIGNAL);
}

/// All but the mark (user_data).
inline void prepare_entry(io_uring_sqe* sqe, detail::operation& operation,
                          buffer_table& buffers) noexcept {
  const native_descriptor descriptor = operation.descriptor();
  switch (operation.kind()) {
    case detail::operation_kind::accept:
      io_uring_prep_accept(sqe, descriptor, nullptr, nullptr, SOCK_CLOEXEC);
      break;
    case detail::operation_kind::connect: {
      static_assert(sizeof(connecting) <= detail::operation::backend_bytes);
      const platform::socket_address& address =
          (::new (operation.backend_room()) connecting(operation.peer()))->address;
      io_uring_prep_connect(sqe, descriptor, address.data(), address.size());
      break;
    }
    case detail::operation_kind::receive:
      io_uring_prep_recv(sqe, descriptor, operation.buffer(), platform::capped(operation.bytes()),
                         0);
      break;
    case detail::operation_kind::send:
    case detail::operation_kind::send_all:
      io_uring_prep_send(sqe, descriptor, operation.buffer(), platform::capped(operation.bytes()),
                         MSG_NOSIGNAL);
      break;
    case detail::operation_kind::send_zero_copy: prepare_zero_copy(sqe, operation); break;
    case detail::operation_kind::receive_vector:
      io_uring_prep_recvmsg(sqe, descriptor, place_message(operation), 0);
      break;
    case detail::operation_kind::send_all_vector:
      io_uring_prep_sendmsg(sqe, descriptor, place_message(operation),
                            static_cast<unsigned>(platform::send_flags(operation.window().more())));
      break;
    case detail::operation_kind::receive_from: prepare_receive_from(sqe, operation); break;
    case detail::operation_kind::send_to: prepare_send_to(sqe, operation); break;
    case detail::operation_kind::receive_batch:
    case detail::operation_kind::receive_message:
    case detail::operation_kind::read_shared:
    case detail::operation_kind::read_pipe:
    case detail::operation_kind::fill_pipe:
    case detail::operation_kind::wait_readable:
    case detail::operation_kind::wait_process:
      io_uring_prep_poll_add(sqe, descriptor, POLLIN);
      break;
    case detail::operation_kind::send_train:
    case detail::operation_kind::send_datagrams:
    case detail::operation_kind::send_message:
    case detail::operation_kind::write_shared:
    case detail::operation_kind::write_all_shared:
    case detail::operation_kind::write_pipe:
    case detail::operation_kind::write_all_pipe:
    case detail::operation_kind::send_file:
    case detail::operation_kind::drain_pipe:
    case detail::operation_kind::wait_writable:
      io_uring_prep_poll_add(sqe, descriptor, POLLOUT);
      break;
    case detail::operation_kind::read_own:
      io_uring_prep_read(sqe, descriptor, operation.buffer(),
                         static_cast<unsigned>(operation.bytes()), 0);
      break;
    case detail::operation_kind::file: prepare_file_entry(sqe, operation.of_file(), buffers); break;
  }
}

}  // namespace tandem::inline v0::io
