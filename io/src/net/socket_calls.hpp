// socket_calls.hpp: what streams and listeners ask the operating system for.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <tandem/io/endpoint.hpp>

#include "net/socket_address.hpp"

namespace tandem::inline v0::io {

[[noreturn]] inline void throw_last_error(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// For hints, and for options that cannot fail on a socket of ours.
inline void set_option(int descriptor, int level, int name, int value) noexcept {
  (void)::setsockopt(descriptor, level, name, &value, sizeof value);
}

inline int family_of(const endpoint& address) noexcept {
  return address.family() == address_family::ipv4 ? AF_INET : AF_INET6;
}

/// @param ask  getsockname or getpeername
inline endpoint name_of(int descriptor, int (*ask)(int, sockaddr*, socklen_t*), const char* what) {
  socket_address address;
  if (ask(descriptor, address.data(), address.capacity()) != 0) throw_last_error(what);
  return address.to_endpoint();
}

}  // namespace tandem::inline v0::io
