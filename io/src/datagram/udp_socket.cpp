// udp_socket.cpp: making, setting and ending a UDP socket.
// SPDX-License-Identifier: MIT
#include <tandem/io/udp_socket.hpp>

#include <string>
#include <system_error>

#include "net/checked.hpp"
#include "platform/datagrams.hpp"
#include "platform/sockets.hpp"

namespace tandem::inline v0::io {

namespace {

/// The first option of those that are set whom the system refuses. Some have to be set before the
/// socket is bound, the rest may be.
void apply(native_descriptor socket, address_family family, const udp_options& options,
           const std::string& what) {
  const auto need = [&what](std::error_code error, const char* option) {
    if (error) throw std::system_error(error, what + ": udp_options::" + option);
  };
  if (options.receive_buffer_bytes) {
    need(platform::set_receive_buffer_bytes(socket, *options.receive_buffer_bytes),
         "receive_buffer_bytes");
  }
  if (options.send_buffer_bytes) {
    need(platform::set_send_buffer_bytes(socket, *options.send_buffer_bytes), "send_buffer_bytes");
  }
  if (options.broadcast) need(platform::set_broadcast(socket, true), "broadcast");
  if (options.hops) need(platform::set_hops(socket, family, *options.hops), "hops");
  if (options.multicast_hops) {
    need(platform::set_multicast_hops(socket, family, *options.multicast_hops), "multicast_hops");
  }
  if (options.multicast_loop) {
    need(platform::set_multicast_loop(socket, family, *options.multicast_loop), "multicast_loop");
  }
  if (options.mark) need(platform::set_mark(socket, family, *options.mark), "mark");
}

}  // namespace

udp_socket::udp_socket() noexcept = default;
udp_socket::udp_socket(udp_socket&& other) noexcept = default;
udp_socket& udp_socket::operator=(udp_socket&& other) noexcept {
  if (this != &other) {
    close();
    socket_ = std::move(other.socket_);
    state_ = std::move(other.state_);
  }
  return *this;
}
udp_socket::~udp_socket() { close(); }

udp_socket::udp_socket(detail::socket&& socket, const udp_options& options, const char* what)
    : socket_(std::move(socket)), state_(std::make_unique<detail::udp_state>()) {
  state_->batch.bound = checked(platform::local_endpoint_of(socket_.descriptor()), what);
  state_->home = state_->batch.bound;
  platform::tell_more(socket_.descriptor(), state_->batch.bound, options.gathers,
                      options.tells_marks);
}

udp_socket udp_socket::open_on(completion_thread& thread, const endpoint& address,
                               const udp_options& options, const std::string& what) {
  result<native_descriptor> opened = platform::open_udp_socket(address.family());
  if (!opened) throw std::system_error(opened.error(), what + ": socket");
  const native_descriptor descriptor = opened.value();
  detail::socket socket(descriptor, thread);
  platform::set_reuse_address(descriptor, options.reuse_address);
  if (options.reuse_port) platform::set_reuse_port(descriptor);
  if (address.family() == address_family::ipv6) platform::set_only_v6(descriptor, options.only_v6);
  apply(descriptor, address.family(), options, what);
  check(platform::bind(descriptor, address), what.c_str());
  return {std::move(socket), options, what.c_str()};
}

udp_socket udp_socket::bind(const endpoint& address, const udp_options& options) {
  return bind(default_completion_pool("udp_socket::bind"), address, options);
}
udp_socket udp_socket::bind(completion_pool& pool, const endpoint& address,
                            const udp_options& options) {
  return open_on(pool.next_thread(), address, options,
                 "udp_socket::bind to " + address.to_string());
}

std::vector<udp_socket> udp_socket::bind_sharded(const endpoint& address,
                                                 const udp_options& options) {
  return bind_sharded(default_completion_pool("udp_socket::bind_sharded"), address, options);
}
std::vector<udp_socket> udp_socket::bind_sharded(completion_pool& pool, const endpoint& address,
                                                 const udp_options& options) {
  udp_options shared = options;
  shared.reuse_port = true;
  std::vector<udp_socket> shards;
  endpoint where = address;
  const unsigned count = platform::spreads_datagrams() ? pool.most_places() : 1;
  while (shards.size() < count) {
    shards.push_back(open_on(pool.thread(static_cast<unsigned>(shards.size())), where, shared,
                             "udp_socket::bind_sharded to " + where.to_string()));
    where = shards.front().local_endpoint();  // the port that the first one has got
  }
  return shards;
}

udp_socket udp_socket::connect(const endpoint& peer, const udp_options& options) {
  return connect(default_completion_pool("udp_socket::connect"), peer, options);
}
udp_socket udp_socket::connect(completion_pool& pool, const endpoint& peer,
                               const udp_options& options) {
  const endpoint any =
      peer.family() == address_family::ipv4 ? endpoint::any_v4(0) : endpoint::any_v6(0);
  udp_socket made =
      open_on(pool.next_thread(), any, options, "udp_socket::connect to " + peer.to_string());
  made.connect_to(peer);
  return made;
}

udp_socket udp_socket::from_native(native_descriptor descriptor, const udp_options& options) {
  return from_native(default_completion_pool("udp_socket::from_native"), descriptor, options);
}
udp_socket udp_socket::from_native(completion_pool& pool, native_descriptor descriptor,
                                   const udp_options& options) {
  const std::string what = "udp_socket::from_native";
  adopt_or_throw(descriptor, platform::adopted_kind::datagrams, what.c_str());
  const endpoint bound = checked(platform::local_endpoint_of(descriptor), what.c_str());
  apply(descriptor, bound.family(), options, what);
  return {detail::socket(descriptor, pool.next_thread()), options, what.c_str()};
}

void udp_socket::connect_to(const endpoint& peer) {
  const std::string what = "udp_socket::connect_to " + peer.to_string();
  check(platform::connect_datagrams(socket_.descriptor(), &peer), what.c_str());
  // The system has chosen the address that it sends from, unless the socket had one.
  state_->batch.bound = local_endpoint();
}
void udp_socket::disconnect() {
  constexpr const char* what = "udp_socket::disconnect";
  check(platform::connect_datagrams(socket_.descriptor(), nullptr), what);
  // Linux takes away a port that it has chosen itself.
  if (local_endpoint().port() == 0) check(platform::bind(socket_.descriptor(), state_->home), what);
  state_->batch.bound = state_->home;
}

namespace {

bool is_group(const endpoint& address) noexcept {
  const std::uint8_t first = address.bytes().front();
  return address.family() == address_family::ipv4 ? (first & 0xF0U) == 0xE0U : first == 0xFFU;
}

/// @throws  if there is an error
void check_group(std::error_code error, const char* call, const endpoint& group) {
  if (!error) return;
  const char* const advice =
      is_group(group) ? ""
                      : " (it is no group's address: those are 224.0.0.0 to 239.255.255.255, and "
                        "ff00::/8)";
  throw std::system_error(error, std::string(call) + ' ' + group.to_string() + advice);
}

}  // namespace

void udp_socket::join_group(const endpoint& group, std::uint32_t interface_index) {
  check_group(platform::change_group(socket_.descriptor(), group, interface_index, true),
              "udp_socket::join_group", group);
}
void udp_socket::leave_group(const endpoint& group, std::uint32_t interface_index) {
  check_group(platform::change_group(socket_.descriptor(), group, interface_index, false),
              "udp_socket::leave_group", group);
}
void udp_socket::set_multicast_interface(std::uint32_t interface_index) {
  check(platform::set_multicast_interface(socket_.descriptor(), family(), interface_index),
        "udp_socket::set_multicast_interface");
}
void udp_socket::set_multicast_hops(unsigned hops) {
  check(platform::set_multicast_hops(socket_.descriptor(), family(), hops),
        "udp_socket::set_multicast_hops");
}
void udp_socket::set_multicast_loop(bool on) {
  check(platform::set_multicast_loop(socket_.descriptor(), family(), on),
        "udp_socket::set_multicast_loop");
}
void udp_socket::set_broadcast(bool on) {
  check(platform::set_broadcast(socket_.descriptor(), on), "udp_socket::set_broadcast");
}
void udp_socket::set_hops(unsigned hops) {
  check(platform::set_hops(socket_.descriptor(), family(), hops), "udp_socket::set_hops");
}
void udp_socket::set_mark(ecn_mark mark) {
  check(platform::set_mark(socket_.descriptor(), family(), mark), "udp_socket::set_mark");
}

endpoint udp_socket::local_endpoint() const {
  return checked(platform::local_endpoint_of(socket_.descriptor()), "udp_socket::local_endpoint");
}
endpoint udp_socket::remote_endpoint() const {
  return checked(platform::remote_endpoint_of(socket_.descriptor()), "udp_socket::remote_endpoint");
}

void udp_socket::close() noexcept {
  socket_.close();
  state_.reset();
}
native_descriptor udp_socket::release() noexcept {
  state_.reset();
  return socket_.release();
}

address_family udp_socket::family() const noexcept {
  return state_ != nullptr ? state_->batch.bound.family() : address_family::ipv4;
}
std::size_t udp_socket::pending() const noexcept {
  return state_ != nullptr ? state_->batch.size() : 0;
}

}  // namespace tandem::inline v0::io
