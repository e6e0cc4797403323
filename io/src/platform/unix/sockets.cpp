// sockets.cpp: sockets by the calls of POSIX, and options as far as the system has them.
// SPDX-License-Identifier: MIT
#include "platform/sockets.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "platform/unix/adopted.hpp"
#include "platform/unix/calls.hpp"
#include "platform/unix/socket_address.hpp"
#include "platform/unix/socket_questions.hpp"
#include "platform/unix/socket_setting.hpp"

namespace tandem::inline v0::io::platform {

namespace {

std::error_code error_of(int number) noexcept { return {number, std::generic_category()}; }

/// @param ask  getsockname or getpeername
result<endpoint> name_of(int descriptor, int (*ask)(int, sockaddr*, socklen_t*)) noexcept {
  socket_address address;
  if (ask(descriptor, address.data(), address.capacity()) != 0) return error_of(errno);
  return address.to_endpoint();
}

#if defined(TCP_KEEPIDLE)
constexpr int keep_idle = TCP_KEEPIDLE;
#else
constexpr int keep_idle = TCP_KEEPALIVE;
#endif

}  // namespace

result<native_descriptor> open_tcp_socket(address_family family) noexcept {
  const int of = family == address_family::ipv4 ? AF_INET : AF_INET6;
  const int made = open_socket(of, SOCK_STREAM, IPPROTO_TCP);
  if (made < 0) return error_of(errno);
  return made;
}

void make_blocking(native_descriptor socket) noexcept {
  int off = 0;
  (void)::ioctl(socket, FIONBIO, &off);
}

void set_reuse_address(native_descriptor socket, bool on) noexcept {
  (void)set(socket, SOL_SOCKET, SO_REUSEADDR, on ? 1 : 0);
}
void set_reuse_port(native_descriptor socket) noexcept {
  (void)set(socket, SOL_SOCKET, SO_REUSEPORT, 1);
}
result<native_descriptor> share_listener(native_descriptor /*listener*/) noexcept {
  return no_descriptor;
}
void set_only_v6(native_descriptor socket, bool on) noexcept {
  (void)set(socket, IPPROTO_IPV6, IPV6_V6ONLY, on ? 1 : 0);
}
void set_reset_at_close(native_descriptor socket) noexcept {
  (void)set(socket, SOL_SOCKET, SO_LINGER, ::linger{1, 0});
}
void end_listening(native_descriptor socket) noexcept { (void)::shutdown(socket, SHUT_RDWR); }

std::error_code bind(native_descriptor socket, const endpoint& address) noexcept {
  const socket_address native(address);
  return error_of_call(::bind(socket, native.data(), native.size()));
}
std::error_code listen(native_descriptor socket, int backlog) noexcept {
  return error_of_call(::listen(socket, backlog));
}
std::error_code shut_down(native_descriptor socket, bool reads, bool writes) noexcept {
  const int how = reads && writes ? SHUT_RDWR : reads ? SHUT_RD : SHUT_WR;
  const std::error_code error = error_of_call(::shutdown(socket, how));
  // ENOTCONN: nothing is left to be ended. A stream was connected once, so both ends have closed
  // it, or the peer has reset it, which stays with the socket for the next read or write to tell.
  return error == std::errc::not_connected ? std::error_code() : error;
}
bool tells_own_shut_down() noexcept { return true; }

result<endpoint> local_endpoint_of(native_descriptor socket) noexcept {
  return name_of(socket, &::getsockname);
}
result<endpoint> remote_endpoint_of(native_descriptor socket) noexcept {
  return name_of(socket, &::getpeername);
}

refusal adopt_socket(native_descriptor descriptor, adopted_kind wanted) noexcept {
  const adopted_facts facts = facts_of(descriptor);
  if (facts.refused) return facts.refused;
  const bool is_of_internet = facts.family == AF_INET || facts.family == AF_INET6;
  if (wanted == adopted_kind::datagrams) {
    if (facts.type != SOCK_DGRAM || !is_of_internet) return refuse(EPROTOTYPE, "is no UDP socket");
  } else if (facts.type != SOCK_STREAM || !is_of_internet || facts.protocol != IPPROTO_TCP) {
    return refuse(EPROTOTYPE, "is no TCP socket");
  }
  if (wanted == adopted_kind::listener && !facts.listens) {
    return refuse(EINVAL, "does not listen: call listen() on it first");
  }
  if (wanted == adopted_kind::stream) {
    if (facts.listens) return refuse(EINVAL, "listens: make it a tcp_listener");
    socket_address peer;
    if (::getpeername(descriptor, peer.data(), peer.capacity()) != 0) {
      return refuse(errno, "is not connected");
    }
  }
  return make_like_ours(descriptor);
}

std::error_code set_no_delay(native_descriptor socket, bool on) noexcept {
  return set(socket, IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0);
}
std::error_code set_keep_alive(native_descriptor descriptor,
                               const std::optional<keep_alive>& alive) noexcept {
  if (alive) {  // the times first, so that no probe goes by the system's
    const auto set_time = [descriptor](int name, int value) {
      return set(descriptor, IPPROTO_TCP, name, value);
    };
    if (const auto error = set_time(keep_idle, to_int(alive->idle.count()))) return error;
    if (const auto error = set_time(TCP_KEEPINTVL, to_int(alive->interval.count()))) return error;
    if (const auto error = set_time(TCP_KEEPCNT, to_int(alive->probes))) return error;
  }
  return set(descriptor, SOL_SOCKET, SO_KEEPALIVE, alive ? 1 : 0);
}
std::error_code set_linger(native_descriptor socket,
                           const std::optional<std::chrono::seconds>& span) noexcept {
  const ::linger value{span ? 1 : 0, span ? to_int(span->count()) : 0};
  return set(socket, SOL_SOCKET, SO_LINGER, value);
}
std::error_code set_receive_buffer_bytes(native_descriptor socket, std::size_t bytes) noexcept {
  return set(socket, SOL_SOCKET, SO_RCVBUF, to_int(bytes));
}
std::error_code set_send_buffer_bytes(native_descriptor socket, std::size_t bytes) noexcept {
  return set(socket, SOL_SOCKET, SO_SNDBUF, to_int(bytes));
}
std::error_code set_user_timeout([[maybe_unused]] native_descriptor socket,
                                 [[maybe_unused]] std::chrono::milliseconds span) noexcept {
#if defined(TCP_USER_TIMEOUT)
  return set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, to_int(span.count()));
#else
  return error_of(ENOPROTOOPT);
#endif
}
std::error_code set_quick_ack([[maybe_unused]] native_descriptor socket,
                              [[maybe_unused]] bool on) noexcept {
#if defined(TCP_QUICKACK)
  return set(socket, IPPROTO_TCP, TCP_QUICKACK, on ? 1 : 0);
#else
  return error_of(ENOPROTOOPT);
#endif
}

result<tcp_options> options_of(native_descriptor descriptor) noexcept {
  socket_questions socket(descriptor);
  const auto flag = [&socket](int level, int name) { return socket.ask(level, name) != 0; };
  const auto bytes = [&socket](int name) {
    return static_cast<std::size_t>(socket.ask(SOL_SOCKET, name));
  };
  const auto span = [&socket](int name) {
    return std::chrono::seconds(socket.ask(IPPROTO_TCP, name));
  };
  tcp_options now;
  now.no_delay = flag(IPPROTO_TCP, TCP_NODELAY);
  if (flag(SOL_SOCKET, SO_KEEPALIVE)) {
    now.alive = keep_alive(span(keep_idle), span(TCP_KEEPINTVL),
                           static_cast<unsigned>(socket.ask(IPPROTO_TCP, TCP_KEEPCNT)));
  }
  const auto lingers = socket.ask<::linger>(SOL_SOCKET, SO_LINGER);
  if (lingers.l_onoff != 0) now.linger = std::chrono::seconds(lingers.l_linger);
  now.receive_buffer_bytes = bytes(SO_RCVBUF);
  now.send_buffer_bytes = bytes(SO_SNDBUF);
#if defined(TCP_USER_TIMEOUT)
  now.user_timeout = std::chrono::milliseconds(socket.ask<unsigned>(IPPROTO_TCP, TCP_USER_TIMEOUT));
#endif
#if defined(TCP_QUICKACK)
  now.quick_ack = flag(IPPROTO_TCP, TCP_QUICKACK);
#endif
  if (socket.error) return socket.error;
  return now;
}

}  // namespace tandem::inline v0::io::platform
