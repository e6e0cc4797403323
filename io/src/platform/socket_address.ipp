// socket_address.ipp: an endpoint as a system writes it: the same on all of them but for the type of a length.
// SPDX-License-Identifier: MIT
//
// Included by socket_address.hpp of unix and of windows, each after the system's own headers, with
//   address_length    what the system's calls take

namespace tandem::inline v0::io::platform {

class socket_address {
 public:
  socket_address() noexcept { std::memset(&address_, 0, sizeof address_); }
  explicit socket_address(const endpoint& from) noexcept : socket_address() {
    if (from.family() == address_family::ipv4) {
      address_.v4.sin_family = AF_INET;
      address_.v4.sin_port = htons(from.port());
      std::memcpy(&address_.v4.sin_addr, from.bytes().data(), 4);
      size_ = sizeof address_.v4;
    } else {
      address_.v6.sin6_family = AF_INET6;
      address_.v6.sin6_port = htons(from.port());
      address_.v6.sin6_scope_id = from.scope_id();
      std::memcpy(&address_.v6.sin6_addr, from.bytes().data(), 16);
      size_ = sizeof address_.v6;
    }
  }

  const sockaddr* data() const noexcept { return &address_.any; }
  sockaddr* data() noexcept { return &address_.any; }
  address_length size() const noexcept { return size_; }
  address_length* capacity() noexcept {
    size_ = sizeof address_;
    return &size_;
  }

  endpoint to_endpoint() const noexcept {
    std::array<std::uint8_t, 16> bytes{};
    if (address_.any.sa_family == AF_INET6) {
      std::memcpy(bytes.data(), &address_.v6.sin6_addr, 16);
      return {address_family::ipv6, bytes, ntohs(address_.v6.sin6_port), address_.v6.sin6_scope_id};
    }
    std::memcpy(bytes.data(), &address_.v4.sin_addr, 4);
    return {address_family::ipv4, bytes, ntohs(address_.v4.sin_port)};
  }

 private:
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } address_;
  address_length size_ = 0;
};

}  // namespace tandem::inline v0::io::platform
