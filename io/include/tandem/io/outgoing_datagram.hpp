// outgoing_datagram.hpp: one of several datagrams that are sent by one call.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <tandem/io/endpoint.hpp>

namespace tandem::inline v0::io {

/// For udp_socket::send_many().
class outgoing_datagram {
 public:
  /// Of a socket that is connected.
  explicit outgoing_datagram(std::span<const std::byte> what) noexcept : bytes_(what) {}
  outgoing_datagram(std::span<const std::byte> what, const endpoint& to) noexcept
      : bytes_(what), receiver_(to), has_receiver_(true) {}

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// @returns  null: whomever the socket is connected to
  const endpoint* receiver() const noexcept { return has_receiver_ ? &receiver_ : nullptr; }

 private:
  std::span<const std::byte> bytes_;
  endpoint receiver_;
  bool has_receiver_ = false;
};

}  // namespace tandem::inline v0::io
