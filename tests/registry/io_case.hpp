// io_case.hpp: what the rows of tandem::io have in common.
// SPDX-License-Identifier: MIT
//
// The peer is the test's own thread, by plain system calls.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <utility>

#include "case_of.hpp"

namespace tandem::registry {
namespace io_rows {  // not an unnamed one: g++ warns of frames that hold such types

using io::endpoint;
using io::tcp_listener;
using io::tcp_stream;

/// A descriptor of the peer.
class peer_socket {
 public:
  peer_socket() = default;
  explicit peer_socket(int descriptor) : descriptor_(descriptor) {}
  peer_socket(peer_socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  peer_socket& operator=(peer_socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~peer_socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const noexcept { return descriptor_; }

  static peer_socket connected_to(std::uint16_t port) {
    peer_socket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const raw = reinterpret_cast<const sockaddr*>(&address);  // NOLINT
    EXPECT_EQ(::connect(made.get(), raw, sizeof address), 0);
    return made;
  }
  /// Closes it with a reset.
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    *this = peer_socket();
  }

 private:
  int descriptor_ = -1;
};

class io_case : public case_base {
 public:
  static constexpr clock_kind clock = clock_kind::real_clock;
  static constexpr bool one_waiter = true;
  void fail() { fails_ = true; }

 protected:
  bool fails_ = false;
};

/// A stream and its peer.
class stream_case : public io_case {
 public:
  task<void> begin() {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    peer_ = peer_socket::connected_to(listener.local_endpoint().port());
    stream_ = co_await listener.accept();
  }

 protected:
  tcp_stream stream_;
  peer_socket peer_;
};

}  // namespace io_rows
}  // namespace tandem::registry
