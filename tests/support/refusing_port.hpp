// refusing_port.hpp: ports of the loopback that nobody else gets for as long as they are held.
// SPDX-License-Identifier: MIT
//
// Bound, but without a listener. The port of a listener that was closed would be anybody's: of a
// test that runs beside, or of the very connection that is tried. So would be, on ::1, the port of a
// listener on 127.0.0.1.
#pragma once

#include <cstdint>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <utility>

#include "loopback_ports.hpp"

namespace tandem::test {

/// Refuses connections.
class refusing_port {
 public:
  refusing_port() : refusing_port(false) {}
  refusing_port(refusing_port&& other) noexcept
      : is_held_(other.is_held_),
        socket_(std::exchange(other.socket_, no_bound_socket)),
        where_(other.where_) {}
  refusing_port& operator=(refusing_port&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(where_, other.where_);
    std::swap(is_held_, other.is_held_);
    return *this;
  }
  ~refusing_port() {
    if (socket_ != no_bound_socket) close_bound(socket_);
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
  explicit refusing_port(bool shares) {
    std::uint16_t port = 0;
    socket_ = bind_loopback_v4(shares, port);
    where_ = io::endpoint::loopback_v4(port);
  }
  explicit refusing_port(std::uint16_t port)
      : socket_(bind_loopback_v6(port, is_held_)), where_(io::endpoint::loopback_v6(port)) {}

  bool is_held_ = true;
  bound_socket socket_ = no_bound_socket;
  io::endpoint where_;
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
