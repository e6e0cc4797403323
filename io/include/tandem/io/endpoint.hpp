// endpoint.hpp: an IP address and a port.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

enum class address_family : std::uint8_t { ipv4, ipv6 };

/// Where a TCP connection begins or ends, or a UDP datagram. A value; made by parse() or by name.
///
///     auto here = tandem::io::endpoint::parse("127.0.0.1:8080");
class TANDEM_IO_API endpoint {
 public:
  /// 0.0.0.0:0
  endpoint() noexcept = default;

  /// 127.0.0.1: this machine only. Port 0, here and below: for a listener, one that is free.
  static endpoint loopback_v4(std::uint16_t port) noexcept;
  /// ::1
  static endpoint loopback_v6(std::uint16_t port) noexcept;
  /// 0.0.0.0: for a listener, every address of this machine.
  static endpoint any_v4(std::uint16_t port) noexcept;
  /// ::
  static endpoint any_v6(std::uint16_t port) noexcept;

  /// @param text  "192.0.2.1:80" or "[2001:db8::1]:80"; numbers only, no names
  /// @throws      std::invalid_argument that quotes the text
  static endpoint parse(std::string_view text);

  address_family family() const noexcept { return family_; }
  std::uint16_t port() const noexcept { return port_; }
  /// Network order; the first 4 bytes for IPv4.
  const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }
  std::uint32_t scope_id() const noexcept { return scope_id_; }
  /// What parse() reads.
  std::string to_string() const;
  /// The address alone, without brackets.
  std::string address_to_string() const;

  friend bool operator==(const endpoint&, const endpoint&) noexcept = default;
  friend std::strong_ordering operator<=>(const endpoint&, const endpoint&) noexcept = default;

  // Implementation
  endpoint(address_family family, const std::array<std::uint8_t, 16>& bytes, std::uint16_t port,
           std::uint32_t scope_id = 0) noexcept
      : family_(family), port_(port), scope_id_(scope_id), bytes_(bytes) {}

 private:
  address_family family_ = address_family::ipv4;
  std::uint16_t port_ = 0;
  std::uint32_t scope_id_ = 0;
  std::array<std::uint8_t, 16> bytes_{};
};

}  // namespace tandem::inline v0::io

/// So that an endpoint is a key of unordered containers.
template <>
struct std::hash<tandem::io::endpoint> {
  std::size_t operator()(const tandem::io::endpoint& of) const noexcept {
    const auto mixed = [](std::uint64_t so_far, std::uint64_t more) {
      so_far = (so_far ^ more) * 0x9E3779B97F4A7C15U;
      return so_far ^ (so_far >> 32);
    };
    std::uint64_t made = mixed(0, of.port());
    made = mixed(made, static_cast<std::uint64_t>(of.family()));
    made = mixed(made, of.scope_id());
    for (const std::uint8_t each : of.bytes()) made = mixed(made, each);
    return static_cast<std::size_t>(made);
  }
};
