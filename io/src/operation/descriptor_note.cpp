// descriptor_note.cpp: the name of the operation, the number of the descriptor, and the addresses.
// SPDX-License-Identifier: MIT
#include "operation/descriptor_note.hpp"

#include <array>
#include <cstdio>
#include <tandem/io/endpoint.hpp>

#include "platform/sockets.hpp"

namespace tandem::inline v0::io::detail {

namespace {

/// As endpoint::to_string(), without a word of IPv6 left out, and without memory.
std::array<char, 48> text_of(const endpoint& address) noexcept {
  std::array<char, 48> out{};
  const auto& b = address.bytes();
  if (address.family() == address_family::ipv4) {
    std::snprintf(out.data(), out.size(), "%u.%u.%u.%u:%u", b[0], b[1], b[2], b[3], address.port());
    return out;
  }
  const auto part = [&b](std::size_t i) { return static_cast<unsigned>(b[i]) << 8 | b[i + 1]; };
  std::snprintf(out.data(), out.size(), "[%x:%x:%x:%x:%x:%x:%x:%x]:%u", part(0), part(2), part(4),
                part(6), part(8), part(10), part(12), part(14), address.port());
  return out;
}

}  // namespace

void note_descriptor(tandem::detail::wait_note& note, const char* name,
                     native_descriptor descriptor) noexcept {
  const auto number = static_cast<long long>(descriptor);
  if (const result<endpoint> peer = platform::remote_endpoint_of(descriptor)) {
    note.say("%s on descriptor %lld, peer %s", name, number, text_of(peer.value()).data());
  } else if (const result<endpoint> own = platform::local_endpoint_of(descriptor)) {
    note.say("%s on descriptor %lld at %s", name, number, text_of(own.value()).data());
  } else {
    note.say("%s on descriptor %lld", name, number);
  }
}

}  // namespace tandem::inline v0::io::detail
