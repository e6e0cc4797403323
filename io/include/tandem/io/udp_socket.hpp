// udp_socket.hpp: datagrams over UDP.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/outgoing_datagram.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/received_datagram.hpp>
#include <tandem/io/udp_awaiters.hpp>
#include <tandem/io/udp_options.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::io {

/// A UDP socket, bound to one completion thread for life.
///
///     auto socket = tandem::io::udp_socket::bind(tandem::io::endpoint::any_v6(5353));
///     while (true) {
///       auto got = co_await socket.receive();
///       for (auto each : got.segments()) co_await socket.send_to(answer_to(each), got.sender());
///     }
///
/// The system drops what it has no room for, and what the network loses nobody tells.
///
/// A second receive, or send, while one is under way is a mistake, as of a tcp_stream.
///
/// @thread_safety  one receive and one send at a time, from any task of its runtime; everything else
///                 by its owner
/// @source         RFC 768; man pages udp(7), ip(7)
class TANDEM_IO_API udp_socket {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  udp_socket() noexcept;
  udp_socket(udp_socket&& other) noexcept;
  udp_socket& operator=(udp_socket&& other) noexcept;
  ~udp_socket();

  /// @param address  port 0: one that is free; an IPv6 one serves IPv4 peers, too, as
  ///                 ::ffff:192.0.2.1, unless options.only_v6
  /// @throws         std::system_error naming the address, or the option: address_in_use, ...;
  ///                 std::logic_error outside any task
  static udp_socket bind(const endpoint& address, const udp_options& options = {});
  /// As above, anywhere: for a pool that exists.
  static udp_socket bind(completion_pool& pool, const endpoint& address,
                         const udp_options& options = {});
  /// A socket for each completion thread, all on one port, among which the kernel spreads the senders
  /// (SO_REUSEPORT): what one sender sends comes to one of them. On Windows, which spreads nothing, it
  /// is one socket; macOS gives all to the last one.
  ///
  ///     for (auto& each : tandem::io::udp_socket::bind_sharded(address)) {
  ///       tandem::executor& home = each.thread_executor();
  ///       scope.spawn(home, answer_all(std::move(each)));
  ///     }
  ///
  /// @throws  as bind()
  static std::vector<udp_socket> bind_sharded(const endpoint& address,
                                              const udp_options& options = {});
  /// As above, anywhere: for a pool that exists.
  static std::vector<udp_socket> bind_sharded(completion_pool& pool, const endpoint& address,
                                              const udp_options& options = {});
  /// Bound to a free port, and connected: see connect_to().
  ///
  /// @throws  as bind(); network_unreachable, ...
  static udp_socket connect(const endpoint& peer, const udp_options& options = {});
  /// As above, anywhere: for a pool that exists.
  static udp_socket connect(completion_pool& pool, const endpoint& peer,
                            const udp_options& options = {});
  /// Takes over a UDP socket that is bound.
  ///
  /// @param descriptor  belongs to the socket from now on; becomes close-on-exec and blocking. What
  ///                    comes to its error queue (IP_RECVERR, time stamps) a receive that waits
  ///                    drops
  /// @param options     what they say of receiving (gathers, tells_marks) and what is set in them
  /// @throws            std::system_error that says what it is instead: then it is still the
  ///                    caller's; std::logic_error outside any task
  static udp_socket from_native(native_descriptor descriptor, const udp_options& options = {});
  /// As above, anywhere: for a pool that exists.
  static udp_socket from_native(completion_pool& pool, native_descriptor descriptor,
                                const udp_options& options = {});
  /// As above, of one who owns it: closed with the owner if it is refused.
  static udp_socket from_native(owned_descriptor&& descriptor, const udp_options& options = {}) {
    return detail::from_owned<udp_socket>(std::move(descriptor), options);
  }
  static udp_socket from_native(completion_pool& pool, owned_descriptor&& descriptor,
                                const udp_options& options = {}) {
    return detail::from_owned<udp_socket>(pool, std::move(descriptor), options);
  }

  /// From now on only datagrams of that peer come, send() goes to it, and that it does not listen is
  /// told (connection_refused, by ICMP) by the next receive or send.
  /// pre: neither is under way
  ///
  /// @throws  std::system_error: network_unreachable, address_family_not_supported, ...
  void connect_to(const endpoint& peer);
  /// Datagrams of anybody come again.
  void disconnect();

  /// Waits for a datagram, or several of one sender. They lie in memory of the library; up to 32 are
  /// taken from the system at once, and the next calls have them.
  ///
  /// @returns        has_value()
  /// @throws         std::system_error: connection_refused (of a socket that is connected),
  ///                 not_enough_memory (there is none for one datagram), ...; operation_cancelled
  /// @cancellation   may lose the race and return a datagram; none is ever lost
  /// @thread_safety  one receive at a time
  /// @resumes_on     the caller's home
  /// @cost           one system call for up to 32; a ring entry where it has to wait; no allocation
  ///                 but of memory that a thread keeps
  receive_datagram_awaiter receive() noexcept { return {socket_, state_}; }
  /// How many of what receive() has taken from the system are still here: it gives those without
  /// asking again. So a server answers all that came at once by one call:
  ///
  ///     do {
  ///       got.push_back(co_await socket.receive());
  ///     } while (socket.pending() != 0);
  ///
  /// @thread_safety  by the task that receives
  std::size_t pending() const noexcept;
  /// Waits for one datagram, also an empty one, in a buffer of the caller's. Those that receive() has
  /// taken from the system are not found: a socket is asked by the one or by the other.
  ///
  /// @param buffer   stays the caller's, alive until the await returns (also after a stop). Of a
  ///                 datagram that is longer, or that was gathered, the rest is lost: then is_cut is
  ///                 true. So set udp_options::gathers to false
  /// @throws         as receive()
  /// @cancellation   as receive()
  receive_into_awaiter receive_into(std::span<std::byte> buffer) noexcept {
    return {socket_, buffer};
  }

  /// Sends one datagram to whomever the socket is connected to: all of it, or an error.
  ///
  /// @param bytes    alive until the await returns (also after a stop); may be none
  /// @throws         std::system_error: message_size, destination_address_required,
  ///                 connection_refused, ...; operation_cancelled
  /// @cancellation   may lose the race and have sent it
  /// @thread_safety  one send at a time, beside a receive
  /// @resumes_on     the caller's home
  /// @cost           one system call; a ring entry if the socket's buffer is full
  send_datagram_awaiter send(std::span<const std::byte> bytes) noexcept {
    return {socket_, detail::datagram(without_const(bytes), bytes.size())};
  }
  /// Likewise, to `receiver`.
  send_datagram_awaiter send_to(std::span<const std::byte> bytes,
                                const endpoint& receiver) noexcept {
    return {socket_, detail::datagram(without_const(bytes), bytes.size(), receiver)};
  }

  /// Sends a train: datagrams of `segment_bytes` each, of which the last one may be shorter. Where
  /// the system can, it cuts them itself, up to 64 by one call, which is many times as fast; where it
  /// refuses that, they are sent one by one, now and from then on, and the caller does not notice.
  ///
  /// @param bytes          all of them, without gaps; alive until the await returns
  /// @param segment_bytes  at most what fits a packet on the way (1,200 fits nearly everywhere)
  /// @throws               as send(); invalid_argument: segment_bytes is 0. How many were sent before
  ///                       is not told, as nobody tells how many arrive
  /// @cancellation         between the calls; some may have been sent
  /// @thread_safety        as send()
  /// @cost                 a system call for each 64 datagrams or 64 KiB
  /// @source               man page udp(7): UDP_SEGMENT
  send_train_awaiter send_train(std::span<const std::byte> bytes,
                                std::size_t segment_bytes) noexcept {
    return {socket_, state_, detail::datagram_train(bytes.data(), bytes.size(), segment_bytes)};
  }
  send_train_awaiter send_train_to(std::span<const std::byte> bytes, std::size_t segment_bytes,
                                   const endpoint& receiver) noexcept {
    detail::datagram_train train(bytes.data(), bytes.size(), segment_bytes);
    train.peer = receiver;
    train.has_peer = true;
    return {socket_, state_, train};
  }

  /// Sends any number of datagrams, each to its own receiver, in order.
  ///
  /// @param all      the list and what it points to stay the caller's until the await returns
  /// @returns        how many were sent: fewer than given only if a stop or a failure came after
  ///                 some of them, which the next call will tell
  /// @throws         as send(), if it is the first that fails
  /// @cancellation   between the calls
  /// @thread_safety  as send()
  /// @cost           a system call for each 64
  send_many_awaiter send_many(std::span<const outgoing_datagram> all) noexcept {
    return {socket_, all};
  }

  /// Joins a group, by the interface of that number; 0: the system chooses one.
  ///
  /// @throws  std::system_error: invalid_argument (it is no group's address), no_such_device,
  ///          address_in_use (it has joined), ...
  void join_group(const endpoint& group, std::uint32_t interface_index = 0);
  void leave_group(const endpoint& group, std::uint32_t interface_index = 0);
  /// By which interface multicast goes out; 0: as the routes say.
  void set_multicast_interface(std::uint32_t interface_index);
  void set_multicast_hops(unsigned hops);
  void set_multicast_loop(bool on);
  void set_broadcast(bool on);
  void set_hops(unsigned hops);
  /// What is written into each datagram from now on.
  void set_mark(ecn_mark mark);

  /// @throws  std::system_error
  endpoint local_endpoint() const;
  /// @throws  std::system_error: not_connected, ...
  endpoint remote_endpoint() const;

  /// Gives the descriptor back; harmless if done before. No operation may be in flight. What was
  /// received and not taken is lost, as what was on its way.
  void close() noexcept;
  /// Gives the descriptor up without closing it: it is the caller's now, and it is blocking. As
  /// close() of what was received. @returns no_descriptor if the socket is not open
  [[nodiscard]] native_descriptor release() noexcept;
  bool is_open() const noexcept { return socket_.is_open(); }
  /// The descriptor, for calls that are not offered here: it stays ours.
  /// @returns  no_descriptor if there is none
  native_descriptor native_handle() const noexcept { return socket_.descriptor(); }
  /// The executor of the completion thread that serves this socket: the cheapest home for its task.
  /// pre: it was opened.
  tandem::executor& thread_executor() noexcept {
    TANDEM_ASSERT(socket_.thread() != nullptr,
                  "thread_executor() of a socket that was never opened");
    return socket_.thread()->executor();
  }

 private:
  udp_socket(detail::socket&& socket, const udp_options& options, const char* what);
  static udp_socket open_on(completion_thread& thread, const endpoint& address,
                            const udp_options& options, const std::string& what);
  address_family family() const noexcept;
  static void* without_const(std::span<const std::byte> bytes) noexcept {
    return const_cast<std::byte*>(bytes.data());  // NOLINT: the kernel only reads it
  }

  detail::socket socket_;
  std::unique_ptr<detail::udp_state> state_;
};

}  // namespace tandem::inline v0::io
