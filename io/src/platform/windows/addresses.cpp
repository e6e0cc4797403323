// addresses.cpp: inet_pton() and inet_ntop().
// SPDX-License-Identifier: MIT
#include "platform/addresses.hpp"

#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

bool parse_address(address_family family, const std::string& text,
                   std::array<std::uint8_t, 16>& out) noexcept {
  (void)start_sockets();
  const int of = family == address_family::ipv4 ? AF_INET : AF_INET6;
  // Windows takes a scope for a part of the address; it is none.
  if (text.find_first_of("%/[]") != std::string::npos) return false;
  return ::inet_pton(of, text.c_str(), out.data()) == 1;
}

std::string text_of(address_family family, const std::array<std::uint8_t, 16>& bytes) {
  (void)start_sockets();
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int of = family == address_family::ipv4 ? AF_INET : AF_INET6;
  ::inet_ntop(of, bytes.data(), text.data(), text.size());
  return text.data();
}

}  // namespace tandem::inline v0::io::platform
