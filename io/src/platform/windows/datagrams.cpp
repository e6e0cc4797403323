// datagrams.cpp: UDP by the calls of Windows: one datagram a call.
// SPDX-License-Identifier: MIT
//
// What it was sent to and how it was marked comes only with calls that mingw-w64 has no headers for:
// the receiver is the address that the socket is bound to, the mark none.
#include "platform/datagrams.hpp"

#include <array>
#include <cstring>
#include <new>

#include <tandem/io/detail/datagram.hpp>

#include "platform/attempt.hpp"
#include "platform/windows/socket_address.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

using detail::datagram_batch;
using detail::datagram_room;
using detail::operation;

std::error_code error_of_call(int answer) noexcept {
  return answer == 0 ? std::error_code() : last_socket_error();
}
template <class T>
std::error_code set(native_descriptor socket, int level, int name, const T& value) noexcept {
  return error_of_call(::setsockopt(socket, level, name,
                                    reinterpret_cast<const char*>(&value),  // NOLINT: its type
                                    sizeof value));
}
std::error_code set(native_descriptor socket, address_family family, int name_v4, int name_v6,
                    DWORD value) noexcept {
  return family == address_family::ipv4 ? set(socket, IPPROTO_IP, name_v4, value)
                                        : set(socket, IPPROTO_IPV6, name_v6, value);
}

std::int32_t failure(native_descriptor socket) noexcept {
  return ::WSAGetLastError() == WSAEWOULDBLOCK ? would_block : -last_number_of(socket);
}

/// @returns  whether it went; else `outcome` says why not
bool send_one(native_descriptor socket, std::span<const std::byte> bytes, const endpoint* receiver,
              std::int32_t& outcome) noexcept {
  const auto* const data = reinterpret_cast<const char*>(bytes.data());  // NOLINT: its type
  const int size = static_cast<int>((std::min<std::size_t>)(bytes.size(), INT32_MAX));
  int answer = 0;
  if (receiver != nullptr) {
    const socket_address address(*receiver);
    answer = ::sendto(socket, data, size, 0, address.data(), address.size());
  } else {
    answer = ::send(socket, data, size, 0);
  }
  outcome = answer >= 0 ? answer : failure(socket);
  return outcome >= 0;
}

}  // namespace

std::error_code connect_datagrams(native_descriptor socket, const endpoint* peer) noexcept {
  if (peer != nullptr) {
    const socket_address address(*peer);
    return error_of_call(::connect(socket, address.data(), address.size()));
  }
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  const int answer = ::connect(socket, &nobody, sizeof nobody);
  return answer != 0 && ::WSAGetLastError() == WSAEAFNOSUPPORT ? std::error_code()
                                                               : error_of_call(answer);
}

bool spreads_datagrams() noexcept { return false; }

void tell_more(native_descriptor /*socket*/, const endpoint& /*bound*/, bool /*gathers*/,
               bool /*marks*/) noexcept {}

std::error_code set_broadcast(native_descriptor socket, bool on) noexcept {
  return set(socket, SOL_SOCKET, SO_BROADCAST, static_cast<BOOL>(on ? 1 : 0));
}
std::error_code set_hops(native_descriptor socket, address_family family, unsigned hops) noexcept {
  return set(socket, family, IP_TTL, IPV6_UNICAST_HOPS, hops);
}
std::error_code set_mark(native_descriptor /*socket*/, address_family /*family*/,
                         ecn_mark mark) noexcept {
  return mark == ecn_mark::none ? std::error_code()
                                : std::make_error_code(std::errc::not_supported);
}
std::error_code set_multicast_hops(native_descriptor socket, address_family family,
                                   unsigned hops) noexcept {
  return set(socket, family, IP_MULTICAST_TTL, IPV6_MULTICAST_HOPS, hops);
}
std::error_code set_multicast_loop(native_descriptor socket, address_family family,
                                   bool on) noexcept {
  return set(socket, family, IP_MULTICAST_LOOP, IPV6_MULTICAST_LOOP, on ? 1U : 0U);
}
std::error_code set_multicast_interface(native_descriptor socket, address_family family,
                                        std::uint32_t index) noexcept {
  // Of IPv4 a number in network order is one of an interface, as all that begin with 0.
  return family == address_family::ipv4 ? set(socket, IPPROTO_IP, IP_MULTICAST_IF, htonl(index))
                                        : set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, index);
}
std::error_code change_group(native_descriptor socket, const endpoint& group, std::uint32_t index,
                             bool joins) noexcept {
  if (group.family() == address_family::ipv6) {
    ipv6_mreq request{};
    std::memcpy(&request.ipv6mr_multiaddr, group.bytes().data(), 16);
    request.ipv6mr_interface = index != 0 ? index : group.scope_id();
    return set(socket, IPPROTO_IPV6, joins ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP, request);
  }
  ip_mreq request{};
  std::memcpy(&request.imr_multiaddr, group.bytes().data(), 4);
  request.imr_interface.s_addr = htonl(index);
  return set(socket, IPPROTO_IP, joins ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, request);
}

std::int32_t receive_batch(operation& operation) noexcept {
  datagram_batch& batch = operation.of_batch();
  std::array<datagram_room*, datagram_batch::most> rooms{};
  unsigned count = 0;
  std::int32_t outcome = would_block;
  while (count < batch.worth_asking_for()) {
    datagram_room* room = nullptr;
    try {
      room = &detail::take_datagram_room();
    } catch (const std::bad_alloc&) {
      outcome = -ENOMEM;
      break;
    }
    socket_address sender;
    const int bytes = ::recvfrom(
        operation.descriptor(), reinterpret_cast<char*>(room->data()),  // NOLINT: its type
        static_cast<int>(datagram_room::capacity), 0, sender.data(), sender.capacity());
    if (bytes < 0) {
      outcome = failure(operation.descriptor());
      detail::give_back_datagram_room(*room);
      break;
    }
    room->size = static_cast<std::uint32_t>(bytes);
    room->sender = sender.to_endpoint();
    room->receiver = batch.bound;
    rooms[count++] = room;
  }
  if (count == 0) return outcome;
  batch.put(std::span(rooms).first(count));
  return static_cast<std::int32_t>(count);
}

std::int32_t send_train(operation& operation) noexcept {
  detail::datagram_train& train = operation.of_train();
  if (train.segment_bytes == 0) return -number_of(WSAEINVAL);
  std::int32_t outcome = 0;
  do {
    const std::span<const std::byte> rest = train.rest();
    const std::span<const std::byte> each =
        rest.first((std::min)(rest.size(), train.segment_bytes));
    if (!send_one(operation.descriptor(), each, train.has_peer ? &train.peer : nullptr, outcome)) {
      return outcome;
    }
    train.done += each.size();
  } while (train.done < train.bytes);
  return 0;
}

std::int32_t send_datagrams(operation& operation) noexcept {
  detail::datagram_list& list = operation.of_datagrams();
  std::int32_t outcome = 0;
  while (list.done < list.all.size()) {
    const outgoing_datagram& each = list.all[list.done];
    if (!send_one(operation.descriptor(), each.bytes(), each.receiver(), outcome)) return outcome;
    ++list.done;
  }
  return 0;
}

}  // namespace tandem::inline v0::io::platform
