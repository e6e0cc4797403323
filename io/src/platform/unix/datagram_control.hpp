// datagram_control.hpp: what the system says beside a datagram, and what it is told.
// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <tandem/io/detail/datagram_room.hpp>

namespace tandem::inline v0::io::platform {

/// Room for an address, a mark and the size of segments; aligned as their headers are.
struct datagram_control {
  alignas(cmsghdr) char bytes[128];  // NOLINT: as the system takes it
};

template <class T>
T value_of(const cmsghdr& header) noexcept {
  T value;
  std::memcpy(&value, CMSG_DATA(&header), sizeof value);
  return value;
}

/// Some systems write a byte, others an int.
inline ecn_mark mark_of(const cmsghdr& header) noexcept {
  const bool is_int = header.cmsg_len >= CMSG_LEN(sizeof(int));
  const unsigned octet = is_int ? static_cast<unsigned>(value_of<int>(header))
                                : static_cast<unsigned>(value_of<unsigned char>(header));
  return static_cast<ecn_mark>(octet & 3U);
}

inline void read_part(const cmsghdr& part, detail::datagram_room& room) noexcept {
  const auto is = [&part](int level, int type) {
    return part.cmsg_level == level && part.cmsg_type == type;
  };
#if defined(IP_PKTINFO)
  if (is(IPPROTO_IP, IP_PKTINFO)) {
    const auto told = value_of<in_pktinfo>(part);
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &told.ipi_addr, 4);
    // A socket of IPv6 has a part of its own, in its own form.
    if (room.receiver.family() == address_family::ipv4) {
      room.receiver = endpoint(address_family::ipv4, bytes, room.receiver.port());
    }
    room.interface_index = static_cast<std::uint32_t>(told.ipi_ifindex);
    return;
  }
#endif
#if defined(IPV6_PKTINFO)
  if (is(IPPROTO_IPV6, IPV6_PKTINFO)) {
    const auto told = value_of<in6_pktinfo>(part);
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &told.ipi6_addr, 16);
    const bool is_local = IN6_IS_ADDR_LINKLOCAL(&told.ipi6_addr);
    room.receiver = endpoint(address_family::ipv6, bytes, room.receiver.port(),
                             is_local ? static_cast<std::uint32_t>(told.ipi6_ifindex) : 0);
    room.interface_index = static_cast<std::uint32_t>(told.ipi6_ifindex);
    return;
  }
#endif
#if defined(UDP_GRO)
  if (is(IPPROTO_UDP, UDP_GRO)) {
    room.segment_bytes = static_cast<std::uint32_t>(value_of<int>(part));
    return;
  }
#endif
#if defined(IPV6_TCLASS)
  if (is(IPPROTO_IPV6, IPV6_TCLASS)) {
    room.mark = mark_of(part);
    return;
  }
#endif
  bool is_mark = is(IPPROTO_IP, IP_TOS);
#if defined(IP_RECVTOS)
  is_mark = is_mark || is(IPPROTO_IP, IP_RECVTOS);
#endif
  if (is_mark) room.mark = mark_of(part);
}

inline void read_control(msghdr& message, detail::datagram_room& room) noexcept {
  for (const cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(part))) {  // NOLINT: the macro's type
    read_part(*part, room);
  }
}

/// Says how large the segments of a train are; lies still until the call has ended.
class segment_control {
 public:
  void attach([[maybe_unused]] msghdr& message,
              [[maybe_unused]] std::size_t segment_bytes) noexcept {
#if defined(UDP_SEGMENT)
    const auto size = static_cast<std::uint16_t>(segment_bytes);
    message.msg_control = bytes_;
    message.msg_controllen = sizeof bytes_;
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = IPPROTO_UDP;
    part->cmsg_type = UDP_SEGMENT;
    part->cmsg_len = CMSG_LEN(sizeof size);
    std::memcpy(CMSG_DATA(part), &size, sizeof size);
#endif
  }

 private:
  alignas(
      cmsghdr) char bytes_[CMSG_SPACE(sizeof(std::uint16_t))];  // NOLINT: as the system takes it
};

/// IPv4 names an interface beside a group; where there are no numbers for it only the usual one.
#if defined(IP_PKTINFO)
inline ip_mreqn interface_request(const endpoint& group, std::uint32_t index) noexcept {
  ip_mreqn request{};
  std::memcpy(&request.imr_multiaddr, group.bytes().data(), 4);
  request.imr_ifindex = static_cast<int>(index);
  return request;
}
#else
inline ip_mreq interface_request(const endpoint& group, std::uint32_t /*index*/) noexcept {
  ip_mreq request{};
  std::memcpy(&request.imr_multiaddr, group.bytes().data(), 4);
  return request;
}
#endif

}  // namespace tandem::inline v0::io::platform
