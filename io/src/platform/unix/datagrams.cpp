// datagrams.cpp: UDP by the calls of POSIX, and of trains and batches as far as the system has them.
// SPDX-License-Identifier: MIT
#include "platform/datagrams.hpp"

#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include <tandem/io/detail/datagram.hpp>

#include "platform/attempt.hpp"
#include "platform/unix/calls.hpp"
#include "platform/unix/datagram_control.hpp"
#include "platform/unix/socket_address.hpp"
#include "platform/unix/socket_setting.hpp"

namespace tandem::inline v0::io::platform {

namespace {

using detail::datagram_batch;
using detail::datagram_room;
using detail::operation;

/// An option that both families have, each its own.
std::error_code set_each(int descriptor, address_family family, int name_v4, int name_v6,
                         int value) noexcept {
  return family == address_family::ipv4 ? set(descriptor, IPPROTO_IP, name_v4, value)
                                        : set(descriptor, IPPROTO_IPV6, name_v6, value);
}

bool is_wildcard(const endpoint& address) noexcept {
  return std::all_of(address.bytes().begin(), address.bytes().end(),
                     [](std::uint8_t byte) { return byte == 0; });
}

std::int32_t outcome_of(ssize_t answer) noexcept {
  if (answer >= 0) return static_cast<std::int32_t>(answer);
  return errno == EAGAIN || errno == EWOULDBLOCK ? would_block : -errno;
}

/// What a receive has room for, before and after the call.
class arrivals {
 public:
  arrivals() noexcept = default;
  arrivals(const arrivals&) = delete;
  arrivals& operator=(const arrivals&) = delete;
  ~arrivals() {
    for (unsigned i = 0; i < count_; ++i) detail::give_back_datagram_room(*rooms_[i]);
  }

  /// @returns  whether there is any
  bool make_room(unsigned count) noexcept {
    try {
      while (count_ < count) {
        rooms_[count_] = &detail::take_datagram_room();
        prepare(count_);
        ++count_;
      }
    } catch (const std::bad_alloc&) {
      // Those that there are will do.
    }
    return count_ != 0;
  }

  /// @returns  how many have come, or as the system's calls do
  int receive(int descriptor) noexcept {
    return receive_messages(descriptor, messages_.data(), count_);
  }

  /// Of the first `count`, which are not ours any more.
  void hand_over(unsigned count, datagram_batch& batch) noexcept {
    for (unsigned i = 0; i < count; ++i) {
      datagram_room& room = *rooms_[i];
      room.size = messages_[i].bytes;
      room.sender = senders_[i].to_endpoint();
      room.receiver = batch.bound;
      read_control(messages_[i].header, room);
    }
    batch.put(std::span(rooms_).first(count));
    std::copy(rooms_.begin() + count, rooms_.begin() + count_, rooms_.begin());
    count_ -= count;
  }

 private:
  void prepare(unsigned i) noexcept {
    parts_[i] = {rooms_[i]->data(), datagram_room::capacity};
    msghdr& header = messages_[i].header;
    std::memset(&header, 0, sizeof header);
    header.msg_name = senders_[i].data();
    header.msg_namelen = *senders_[i].capacity();
    header.msg_iov = &parts_[i];
    header.msg_iovlen = 1;
    header.msg_control = controls_[i].bytes;
    header.msg_controllen = sizeof controls_[i].bytes;
  }

  unsigned count_ = 0;
  std::array<datagram_room*, datagram_batch::most> rooms_;
  std::array<numbered_message, datagram_batch::most> messages_;
  std::array<iovec, datagram_batch::most> parts_;
  std::array<socket_address, datagram_batch::most> senders_;
  std::array<datagram_control, datagram_batch::most> controls_;
};

/// Up to so many datagrams that are sent by one call.
class departures {
 public:
  static constexpr std::size_t most = 64;

  std::size_t count() const noexcept { return count_; }
  bool is_full() const noexcept { return count_ == most; }
  void add(std::span<const std::byte> bytes, const endpoint* receiver) noexcept {
    parts_[count_] = {const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT: only read
    msghdr& header = messages_[count_].header;
    std::memset(&header, 0, sizeof header);
    if (receiver != nullptr) {
      receivers_[count_] = socket_address(*receiver);
      header.msg_name = receivers_[count_].data();
      header.msg_namelen = receivers_[count_].size();
    }
    header.msg_iov = &parts_[count_];
    header.msg_iovlen = 1;
    ++count_;
  }
  /// @returns  how many went, or as the system's calls do
  int send(int descriptor) noexcept {
    return send_messages(descriptor, messages_.data(), static_cast<unsigned>(count_));
  }

 private:
  std::size_t count_ = 0;
  std::array<numbered_message, most> messages_;
  std::array<iovec, most> parts_;
  std::array<socket_address, most> receivers_;
};

/// As many segments as the system takes for one train.
std::span<const std::byte> next_train(const detail::datagram_train& train) noexcept {
  constexpr std::size_t most_segments = 64;  // UDP_MAX_SEGMENTS of older kernels
  constexpr std::size_t most_bytes = 65535 - 8 - 40;
  const std::size_t segments =
      std::clamp<std::size_t>(most_bytes / train.segment_bytes, 1, most_segments);
  const std::span<const std::byte> rest = train.rest();
  return rest.first((std::min)(rest.size(), segments * train.segment_bytes));
}

/// The device, or what is on the way to it, cannot cut: no checksum by hardware (EIO), a socket
/// without one, segments beyond the route's MTU (EINVAL), an old kernel. Each datagram may be sent
/// all the same; if not, that call says why.
bool is_refusal_of_trains(std::int32_t outcome) noexcept {
  return outcome == -EINVAL || outcome == -EIO || outcome == -EOPNOTSUPP ||
         outcome == -ENOPROTOOPT || outcome == -EMSGSIZE;
}

/// @returns  what came of it
std::int32_t send_one_train(int descriptor, detail::datagram_train& train) noexcept {
  const std::span<const std::byte> part = next_train(train);
  iovec bytes{const_cast<std::byte*>(part.data()), part.size()};  // NOLINT: only read
  socket_address receiver;
  msghdr header{};
  if (train.has_peer) {
    receiver = socket_address(train.peer);
    header.msg_name = receiver.data();
    header.msg_namelen = receiver.size();
  }
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  segment_control control;
  if (part.size() > train.segment_bytes) control.attach(header, train.segment_bytes);
  const std::int32_t outcome = outcome_of(send_message(descriptor, header, false));
  if (outcome >= 0) train.done += part.size();
  return outcome;
}

std::int32_t send_one_by_one(int descriptor, detail::datagram_train& train) noexcept {
  departures group;
  std::span<const std::byte> rest = train.rest();
  do {
    const std::span<const std::byte> each =
        rest.first((std::min)(rest.size(), train.segment_bytes));
    group.add(each, train.has_peer ? &train.peer : nullptr);
    rest = rest.subspan(each.size());
  } while (!rest.empty() && !group.is_full());
  const std::int32_t sent = outcome_of(group.send(descriptor));
  if (sent > 0) {
    train.done =
        (std::min)(train.bytes, train.done + static_cast<std::size_t>(sent) * train.segment_bytes);
  }
  return sent;
}

/// The rest of it, by one call after the other.
///
/// @returns  what came of the last one
template <class Send>
std::int32_t send_all_by(Send&& send, int descriptor, detail::datagram_train& train) noexcept {
  std::int32_t outcome = 0;
  do outcome = send(descriptor, train);  // an empty train is one empty datagram
  while (outcome > 0 && train.done < train.bytes);
  return outcome;
}

bool can_cut_trains() noexcept {
#if defined(UDP_SEGMENT)
  return true;
#else
  return false;
#endif
}

}  // namespace

result<native_descriptor> open_udp_socket(address_family family) noexcept {
  const int made =
      open_socket(family == address_family::ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
  if (made < 0) return std::error_code(errno, std::generic_category());
  return made;
}

std::error_code connect_datagrams(native_descriptor socket, const endpoint* peer) noexcept {
  if (peer != nullptr) {
    const socket_address address(*peer);
    return error_of_call(::connect(socket, address.data(), address.size()));
  }
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  const int answer = ::connect(socket, &nobody, sizeof nobody);
  // BSD's say so of what has worked.
  return answer != 0 && errno == EAFNOSUPPORT ? std::error_code() : error_of_call(answer);
}

bool spreads_datagrams() noexcept { return true; }

void tell_more(native_descriptor socket, const endpoint& bound, [[maybe_unused]] bool gathers,
               bool marks) noexcept {
  const bool is_v6 = bound.family() == address_family::ipv6;
  // A socket of one address need not be told it.
  const int addresses = is_wildcard(bound) ? 1 : 0;
#if defined(IP_PKTINFO)
  (void)set(socket, IPPROTO_IP, IP_PKTINFO, addresses);  // of a v6 one: for its IPv4 peers
#endif
#if defined(IPV6_RECVPKTINFO)
  if (is_v6) (void)set(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, addresses);
#endif
#if defined(IP_RECVTOS)
  (void)set(socket, IPPROTO_IP, IP_RECVTOS, marks ? 1 : 0);
#endif
#if defined(IPV6_RECVTCLASS)
  if (is_v6) (void)set(socket, IPPROTO_IPV6, IPV6_RECVTCLASS, marks ? 1 : 0);
#endif
#if defined(UDP_GRO)
  (void)set(socket, IPPROTO_UDP, UDP_GRO, gathers ? 1 : 0);
#endif
}

std::error_code set_broadcast(native_descriptor socket, bool on) noexcept {
  return set(socket, SOL_SOCKET, SO_BROADCAST, on ? 1 : 0);
}
std::error_code set_hops(native_descriptor socket, address_family family, unsigned hops) noexcept {
  return set_each(socket, family, IP_TTL, IPV6_UNICAST_HOPS, static_cast<int>(hops));
}
std::error_code set_mark(native_descriptor socket, address_family family, ecn_mark mark) noexcept {
  const std::error_code error =
      set_each(socket, family, IP_TOS, IPV6_TCLASS, static_cast<int>(mark));
  if (error || family == address_family::ipv4) return error;
  (void)set(socket, IPPROTO_IP, IP_TOS, static_cast<int>(mark));  // for its IPv4 peers
  return {};
}
std::error_code set_multicast_hops(native_descriptor socket, address_family family,
                                   unsigned hops) noexcept {
  return set_each(socket, family, IP_MULTICAST_TTL, IPV6_MULTICAST_HOPS, static_cast<int>(hops));
}
std::error_code set_multicast_loop(native_descriptor socket, address_family family,
                                   bool on) noexcept {
  return set_each(socket, family, IP_MULTICAST_LOOP, IPV6_MULTICAST_LOOP, on ? 1 : 0);
}
std::error_code set_multicast_interface(native_descriptor socket, address_family family,
                                        std::uint32_t index) noexcept {
  if (family == address_family::ipv6) {
    return set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, static_cast<int>(index));
  }
  return set(socket, IPPROTO_IP, IP_MULTICAST_IF, interface_request(endpoint(), index));
}
std::error_code change_group(native_descriptor socket, const endpoint& group, std::uint32_t index,
                             bool joins) noexcept {
  if (group.family() == address_family::ipv6) {
    ipv6_mreq request{};
    std::memcpy(&request.ipv6mr_multiaddr, group.bytes().data(), 16);
    request.ipv6mr_interface = index != 0 ? index : group.scope_id();
    return set(socket, IPPROTO_IPV6, joins ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP, request);
  }
  return set(socket, IPPROTO_IP, joins ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
             interface_request(group, index));
}

std::int32_t receive_batch(operation& operation) noexcept {
  datagram_batch& batch = operation.of_batch();
  arrivals room;
  if (!room.make_room(batch.worth_asking_for())) return -ENOMEM;
  const std::int32_t outcome = outcome_of(room.receive(operation.descriptor()));
  if (outcome > 0) room.hand_over(static_cast<unsigned>(outcome), batch);
  return outcome;
}

std::int32_t send_train(operation& operation) noexcept {
  detail::datagram_train& train = operation.of_train();
  if (train.segment_bytes == 0) return -EINVAL;
  const int descriptor = operation.descriptor();
  std::int32_t refusal = 0;
  if (can_cut_trains() && !train.is_refused->load(std::memory_order_relaxed)) {
    const std::int32_t outcome = send_all_by(send_one_train, descriptor, train);
    if (outcome >= 0) return 0;
    const bool had_to_be_cut = next_train(train).size() > train.segment_bytes;
    if (!had_to_be_cut || !is_refusal_of_trains(outcome)) return outcome;
    refusal = outcome;
  }
  const std::size_t before = train.done;
  const std::int32_t outcome = send_all_by(send_one_by_one, descriptor, train);
  // The same number may be about the receiver (its port is 0), and what is too long for one route
  // is not too long for the next.
  if (refusal != 0 && refusal != -EMSGSIZE && train.done != before) {
    train.is_refused->store(true, std::memory_order_relaxed);
  }
  return outcome < 0 ? outcome : 0;
}

std::int32_t send_datagrams(operation& operation) noexcept {
  detail::datagram_list& list = operation.of_datagrams();
  while (list.done < list.all.size()) {
    departures group;
    for (const outgoing_datagram& each : list.rest()) {
      if (group.is_full()) break;
      group.add(each.bytes(), each.receiver());
    }
    const std::int32_t outcome = outcome_of(group.send(operation.descriptor()));
    if (outcome < 0) return outcome;
    list.done += static_cast<std::size_t>(outcome);
  }
  return 0;
}

}  // namespace tandem::inline v0::io::platform
