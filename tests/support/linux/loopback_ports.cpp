// loopback_ports.cpp: bound sockets, and the descriptors of this process.
// SPDX-License-Identifier: MIT
#include "loopback_ports.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace tandem::test {

bound_socket bind_loopback_v4(bool shares, std::uint16_t& port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = shares ? 1 : 0;
  EXPECT_EQ(::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(made, reinterpret_cast<sockaddr*>(&address), size), 0);          // NOLINT
  EXPECT_EQ(::getsockname(made, reinterpret_cast<sockaddr*>(&address), &size), 0);  // NOLINT
  port = ntohs(address.sin_port);
  return made;
}

bound_socket bind_loopback_v6(std::uint16_t port, bool& is_held) {
  const int made = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_addr = in6addr_loopback;
  is_held = ::bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ||  // NOLINT
            errno != EADDRINUSE;
  return made;
}

void close_bound(bound_socket socket) { ::close(static_cast<int>(socket)); }

// Not counted: files below /proc (the stall watch of a completion pool opens one for a moment,
// whenever a busy machine makes a thread late).
std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || target.starts_with("/proc/")) continue;
    ++count;
  }
  return count;
}

}  // namespace tandem::test
