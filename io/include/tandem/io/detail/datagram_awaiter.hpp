// datagram_awaiter.hpp: receiving one datagram, and sending one.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <span>
#include <tandem/io/detail/datagram.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::detail {

/// Base: the datagram is in the awaiter.
class datagram_awaiter : public socket_awaiter {
 public:
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    operation_.aim_at(datagram_);
    return socket_awaiter::await_suspend(self);
  }

 protected:
  datagram_awaiter(operation_kind kind, socket& target, const datagram& what) noexcept
      : socket_awaiter(kind, target, nullptr, 0), datagram_(what) {}

  datagram datagram_;
};

/// Receives one datagram, also an empty one.
///
/// @param buffer        stays the caller's, alive until the await returns (also after a stop). Of a
///                      datagram that is longer the rest is lost, and is_cut is true
/// @throws              std::system_error; operation_cancelled
/// @cancellation        may lose the race and return a datagram; none is ever lost
/// @thread_safety       one receive at a time, beside a send
class [[nodiscard]] TANDEM_IO_API receive_from_awaiter : public datagram_awaiter {
 public:
  using lossy_when_dropped = lossy<operation_kind::receive_from>;

  receive_from_awaiter(socket& from, std::span<std::byte> buffer) noexcept
      : datagram_awaiter(operation_kind::receive_from, from, {buffer.data(), buffer.size()}) {}

  received_datagram await_resume();
  result<received_datagram> await_resume_result();
};

/// Sends one datagram: all of it, or an error.
///
/// @param bytes         alive until the await returns (also after a stop); may be none
/// @throws              std::system_error: message_size, network_unreachable, ...;
///                      operation_cancelled
/// @cancellation        may lose the race and have sent it
/// @thread_safety       one send at a time, beside a receive
class [[nodiscard]] TANDEM_IO_API send_to_awaiter : public datagram_awaiter {
 public:
  using lossy_when_dropped = lossy<operation_kind::send_to>;

  send_to_awaiter(socket& by, std::span<const std::byte> bytes, const endpoint& receiver) noexcept
      : datagram_awaiter(operation_kind::send_to, by,
                         {const_cast<std::byte*>(bytes.data()),  // NOLINT: the kernel only reads it
                          bytes.size(), receiver}) {}

  void await_resume();
  result<void> await_resume_result();
};

}  // namespace tandem::inline v0::io::detail
