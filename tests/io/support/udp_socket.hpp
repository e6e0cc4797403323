// udp_socket.hpp: a UDP socket on loopback, for tests of operations on datagrams.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/datagram_awaiter.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/endpoint.hpp>

namespace tandem::test {

/// A port of loopback as the system takes it. @returns the bytes that it takes in `room`
inline socklen_t write_loopback(io::address_family family, std::uint16_t port,
                                sockaddr_storage& room) {
  room = {};
  if (family == io::address_family::ipv4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(room);  // NOLINT
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof v4;
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(room);  // NOLINT
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  return sizeof v6;
}

/// Bound to a port of its own. @returns its descriptor, the caller's
inline int open_udp(io::address_family family, std::uint16_t& port) {
  const int of = family == io::address_family::ipv4 ? AF_INET : AF_INET6;
  const int made = ::socket(of, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  EXPECT_GE(made, 0);
  sockaddr_storage room;
  socklen_t size = write_loopback(family, 0, room);
  auto* const address = reinterpret_cast<sockaddr*>(&room);  // NOLINT
  EXPECT_EQ(::bind(made, address, size), 0);
  EXPECT_EQ(::getsockname(made, address, &size), 0);
  port = ntohs(family == io::address_family::ipv4
                   ? reinterpret_cast<sockaddr_in&>(room).sin_port      // NOLINT
                   : reinterpret_cast<sockaddr_in6&>(room).sin6_port);  // NOLINT
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

  io::detail::receive_from_awaiter receive(std::span<std::byte> room) noexcept {
    return {socket_, room};
  }
  io::detail::send_to_awaiter send(std::span<const std::byte> bytes,
                                   const io::endpoint& to) noexcept {
    return {socket_, bytes, to};
  }

 private:
  io::address_family family_;
  std::uint16_t port_ = 0;
  io::detail::socket socket_;
};

/// By a plain system call, from any thread.
inline void send_plainly(int descriptor, std::uint16_t port, std::span<const std::byte> bytes) {
  sockaddr_storage room;
  const socklen_t size = write_loopback(io::address_family::ipv4, port, room);
  EXPECT_EQ(::sendto(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL,
                     reinterpret_cast<sockaddr*>(&room), size),  // NOLINT
            static_cast<ssize_t>(bytes.size()));
}

}  // namespace tandem::test
