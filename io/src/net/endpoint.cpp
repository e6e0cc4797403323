// endpoint.cpp: endpoints as text.
// SPDX-License-Identifier: MIT
#include <charconv>
#include <stdexcept>
#include <tandem/io/endpoint.hpp>

#include "platform/addresses.hpp"

namespace tandem::inline v0::io {

namespace {

[[noreturn]] void not_an_endpoint(std::string_view text, const char* why) {
  throw std::invalid_argument("\"" + std::string(text) + "\" is no endpoint: " + why +
                              " (\"192.0.2.1:80\" or \"[2001:db8::1]:80\")");
}

std::array<std::uint8_t, 16> loopback_bytes(address_family family) noexcept {
  std::array<std::uint8_t, 16> bytes{};
  if (family == address_family::ipv4) {
    bytes[0] = 127;
    bytes[3] = 1;
  } else {
    bytes[15] = 1;
  }
  return bytes;
}

}  // namespace

endpoint endpoint::loopback_v4(std::uint16_t port) noexcept {
  return {address_family::ipv4, loopback_bytes(address_family::ipv4), port};
}
endpoint endpoint::loopback_v6(std::uint16_t port) noexcept {
  return {address_family::ipv6, loopback_bytes(address_family::ipv6), port};
}
endpoint endpoint::any_v4(std::uint16_t port) noexcept { return {address_family::ipv4, {}, port}; }
endpoint endpoint::any_v6(std::uint16_t port) noexcept { return {address_family::ipv6, {}, port}; }

endpoint endpoint::parse(std::string_view text) {
  // The system would read up to it.
  if (text.find('\0') != std::string_view::npos) not_an_endpoint(text, "it contains a zero");
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) not_an_endpoint(text, "the port is missing");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [stopped, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || stopped != digits.data() + digits.size()) {
    not_an_endpoint(text, "the port is not a number from 0 to 65535");
  }
  std::array<std::uint8_t, 16> bytes{};
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    const std::string inner(host.substr(1, host.size() - 2));
    if (!platform::parse_address(address_family::ipv6, inner, bytes)) {
      not_an_endpoint(text, "the part in brackets is no IPv6 address");
    }
    return {address_family::ipv6, bytes, port};
  }
  if (!platform::parse_address(address_family::ipv4, std::string(host), bytes)) {
    not_an_endpoint(
        text,
        "the host is no IPv4 address; IPv6 needs brackets, and a name is for resolve(), "
        "or tcp_stream::connect(host, port)");
  }
  return {address_family::ipv4, bytes, port};
}

std::string endpoint::to_string() const {
  const std::string host = address_to_string();
  const std::string port = ":" + std::to_string(port_);
  return family_ == address_family::ipv4 ? host + port : "[" + host + "]" + port;
}
std::string endpoint::address_to_string() const { return platform::text_of(family_, bytes_); }

}  // namespace tandem::inline v0::io
