// refusing_port.hpp: a port of the loopback that refuses connections for as long as it lives.
// SPDX-License-Identifier: MIT
//
// Bound, but without a listener. The port of a listener that was closed would be anybody's: of a
// test that runs beside, or of the very connection that is tried.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tandem/io/endpoint.hpp>

namespace tandem::test {

class refusing_port {
 public:
  refusing_port() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);          // NOLINT
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);  // NOLINT
    where_ = io::endpoint::loopback_v4(ntohs(address.sin_port));
  }
  refusing_port(const refusing_port&) = delete;
  refusing_port& operator=(const refusing_port&) = delete;
  ~refusing_port() { ::close(socket_); }

  const io::endpoint& where() const noexcept { return where_; }

 private:
  int socket_;
  io::endpoint where_;
};

}  // namespace tandem::test
