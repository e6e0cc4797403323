// loopback_ports.cpp: bound sockets, and the sockets of this process.
// SPDX-License-Identifier: MIT
#include "loopback_ports.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <gtest/gtest.h>
#include <windows.h>
#include <winsock2.h>
#include <ws2tcpip.h>

#include <cstdint>

#include "own_handles.hpp"

namespace tandem::test {

namespace {

bound_socket open_socket(int family) {
  static const bool started = [] {
    WSADATA about{};
    return ::WSAStartup(MAKEWORD(2, 2), &about) == 0;
  }();
  EXPECT_TRUE(started);
  return static_cast<bound_socket>(::WSASocketW(family, SOCK_STREAM, 0, nullptr, 0,
                                                WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT));
}

}  // namespace

bound_socket bind_loopback_v4(bool shares, std::uint16_t& port) {
  const bound_socket made = open_socket(AF_INET);
  const auto socket = static_cast<SOCKET>(made);
  const BOOL yes = TRUE;
  EXPECT_EQ(::setsockopt(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE,
                         reinterpret_cast<const char*>(&yes), sizeof yes),  // NOLINT
            0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  int size = sizeof address;
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);          // NOLINT
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);  // NOLINT
  port = ::ntohs(address.sin_port);
  if (!shares) return made;
  // What is bound cannot be had in common. Windows gives a port that was let go to others last.
  ::closesocket(socket);
  return no_bound_socket;
}

bound_socket bind_loopback_v6(std::uint16_t port, bool& is_held) {
  const bound_socket made = open_socket(AF_INET6);
  const auto socket = static_cast<SOCKET>(made);
  // Else it would be bound beside a listener on all addresses.
  const BOOL yes = TRUE;
  (void)::setsockopt(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&yes),
                     sizeof yes);  // NOLINT
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = ::htons(port);
  address.sin6_addr.s6_addr[15] = 1;  // loopback
  const int answer =
      ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address);  // NOLINT
  const int code = answer == 0 ? 0 : ::WSAGetLastError();
  is_held = code != WSAEADDRINUSE && code != WSAEACCES;
  return made;
}

void close_bound(bound_socket socket) { ::closesocket(static_cast<SOCKET>(socket)); }

// Sockets, since the system's own libraries open other handles when they like.
std::size_t open_descriptors() {
  std::size_t count = 0;
  for_each_own_handle([&count](HANDLE each) {
    int type = 0;
    int size = sizeof type;
    count += ::getsockopt(reinterpret_cast<SOCKET>(each), SOL_SOCKET, SO_TYPE,  // NOLINT
                          reinterpret_cast<char*>(&type), &size) == 0           // NOLINT
                 ? 1
                 : 0;
  });
  return count;
}

}  // namespace tandem::test
