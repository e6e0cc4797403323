// udp_socket.hpp: a UDP socket on loopback, for tests of operations on datagrams.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/udp_awaiters.hpp>

#include "plain_sockets.hpp"

namespace tandem::test {

/// Bound to a port of its own. @returns its descriptor, the caller's
inline plain_socket open_udp(io::address_family family, std::uint16_t& port) {
  const plain_socket made = bound_plain(
      family == io::address_family::ipv4 ? socket_kind::datagram_v4 : socket_kind::datagram_v6,
      port);
  make_like_ours(made);
  return made;
}

class udp_socket {
 public:
  /// pre: in a task
  explicit udp_socket(io::address_family family = io::address_family::ipv4)
      : family_(family),
        socket_(open_udp(family, port_), io::current_completion_pool("udp_socket").next_thread()) {}

  io::endpoint where() const noexcept {
    return family_ == io::address_family::ipv4 ? io::endpoint::loopback_v4(port_)
                                               : io::endpoint::loopback_v6(port_);
  }
  std::uint16_t port() const noexcept { return port_; }
  io::detail::socket& get() noexcept { return socket_; }
  void close() noexcept { socket_.close(); }

  io::receive_into_awaiter receive(std::span<std::byte> room) noexcept { return {socket_, room}; }
  io::send_datagram_awaiter send(std::span<const std::byte> bytes,
                                 const io::endpoint& to) noexcept {
    void* const data = const_cast<std::byte*>(bytes.data());  // NOLINT: only read
    return {socket_, io::detail::datagram(data, bytes.size(), to)};
  }

 private:
  io::address_family family_;
  std::uint16_t port_ = 0;
  io::detail::socket socket_;
};

/// By a plain system call, from any thread.
inline void send_plainly(plain_socket descriptor, std::uint16_t port,
                         std::span<const std::byte> bytes) {
  EXPECT_EQ(send_plain(descriptor, port, bytes.data(), bytes.size()), std::ssize(bytes));
}

}  // namespace tandem::test
