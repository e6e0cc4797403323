// refusing_port.hpp: ports of the loopback that nobody else gets for as long as they are held.
// SPDX-License-Identifier: MIT
//
// Bound, but without a listener. The port of a listener that was closed would be anybody's: of a
// test that runs beside, or of the very connection that is tried. So would be, on ::1, the port of a
// listener on 127.0.0.1.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <utility>

namespace tandem::test {

/// Refuses connections.
class refusing_port {
 public:
  refusing_port() : refusing_port(false) {}
  refusing_port(refusing_port&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), where_(other.where_), is_held_(other.is_held_) {}
  refusing_port& operator=(refusing_port&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(where_, other.where_);
    std::swap(is_held_, other.is_held_);
    return *this;
  }
  ~refusing_port() {
    if (socket_ >= 0) ::close(socket_);
  }

  /// This port of ::1. If somebody else has it, is_held() is false.
  static refusing_port on_v6(std::uint16_t port) { return refusing_port(port); }
  /// Listeners that are bound to it by number may come and go (`listen_options::reuse_address`, which is the default);
  /// while there is none it refuses. A listener on any port, of this program or another, never gets it.
  static refusing_port for_listeners() { return refusing_port(true); }

  const io::endpoint& where() const noexcept { return where_; }
  /// Whether nobody else can listen there; so it is on a machine that has no ::1.
  bool is_held() const noexcept { return is_held_; }

 private:
  explicit refusing_port(bool shares) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = shares ? 1 : 0;
    EXPECT_EQ(::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);          // NOLINT
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);  // NOLINT
    where_ = io::endpoint::loopback_v4(ntohs(address.sin_port));
  }
  explicit refusing_port(std::uint16_t port)
      : socket_(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        where_(io::endpoint::loopback_v6(port)) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_loopback;
    is_held_ =
        ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ||  // NOLINT
        errno != EADDRINUSE;
  }

  int socket_;
  io::endpoint where_;
  bool is_held_ = true;
};

/// A listener on 127.0.0.1 at a port that refuses on ::1: whoever tries both addresses, as for
/// "localhost", arrives here and nowhere else.
class v4_listener {
 public:
  v4_listener() {
    while (!refuses_.is_held()) {
      tcp_ = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
      refuses_ = refusing_port::on_v6(port());
    }
  }
  io::tcp_listener& tcp() noexcept { return tcp_; }
  std::uint16_t port() const { return tcp_.local_endpoint().port(); }

 private:
  io::tcp_listener tcp_ = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  refusing_port refuses_ = refusing_port::on_v6(port());
};

}  // namespace tandem::test
