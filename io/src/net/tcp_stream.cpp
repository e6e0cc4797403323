// tcp_stream.cpp: reading, writing and ending a connection.
// SPDX-License-Identifier: MIT
#include <tandem/io/tcp_stream.hpp>

#include "net/socket_calls.hpp"

namespace tandem::inline v0::io {

std::size_t transfer_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) {
    operation_.throw_failure(operation_.kind() == detail::operation_kind::receive
                                 ? "tcp_stream::read"
                                 : "tcp_stream::write");
  }
  return static_cast<std::size_t>(operation_.outcome());
}

result<std::size_t> transfer_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return static_cast<std::size_t>(operation_.outcome());
}

void write_all_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure("tcp_stream::write_all");
}

result<void> write_all_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return {};
}

std::size_t vectored_read_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure("tcp_stream::read");
  return static_cast<std::size_t>(operation_.outcome());
}

result<std::size_t> vectored_read_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return static_cast<std::size_t>(operation_.outcome());
}

void vectored_write_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure("tcp_stream::write_all");
}

result<void> vectored_write_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return {};
}

void tcp_stream::shutdown(shutdown_kind kind) {
  const int how = kind == shutdown_kind::read    ? SHUT_RD
                  : kind == shutdown_kind::write ? SHUT_WR
                                                 : SHUT_RDWR;
  // ENOTCONN: nothing is left to be ended. A stream was connected once, so both ends have closed
  // it, or the peer has reset it, which stays with the socket for the next read or write to tell.
  if (::shutdown(socket_.descriptor(), how) != 0 && errno != ENOTCONN) {
    throw_last_error("tcp_stream::shutdown");
  }
}

void tcp_stream::abort() noexcept {
  if (!is_open()) return;
  const ::linger at_once{1, 0};
  (void)::setsockopt(socket_.descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

endpoint tcp_stream::local_endpoint() const {
  return name_of(socket_.descriptor(), &::getsockname, "tcp_stream::local_endpoint");
}
endpoint tcp_stream::remote_endpoint() const {
  return name_of(socket_.descriptor(), &::getpeername, "tcp_stream::remote_endpoint");
}

}  // namespace tandem::inline v0::io
