// sockets.cpp: sockets by the calls of POSIX and Linux.
// SPDX-License-Identifier: MIT
#include "platform/sockets.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <climits>
#include <string>
#include <system_error>
#include <utility>

#include "platform/linux/socket_address.hpp"

namespace tandem::inline v0::io::platform {

namespace {

template <class T>
bool set(int descriptor, int level, int name, const T& value) noexcept {
  return ::setsockopt(descriptor, level, name, &value, sizeof value) == 0;
}

template <class T = int>
T get(int descriptor, int level, int name, const char* what) {
  T value{};
  socklen_t size = sizeof value;
  if (::getsockopt(descriptor, level, name, &value, &size) != 0) throw_last_error(what);
  return value;
}

/// What does not fit is as good as the largest that does.
template <class Number>
int to_int(Number value) noexcept {
  if (std::cmp_less(value, 0)) return -1;  // which the system refuses
  return std::cmp_less(INT_MAX, value) ? INT_MAX : static_cast<int>(value);
}

/// @param ask  getsockname or getpeername
endpoint name_of(int descriptor, int (*ask)(int, sockaddr*, socklen_t*), const char* what) {
  socket_address address;
  if (ask(descriptor, address.data(), address.capacity()) != 0) throw_last_error(what);
  return address.to_endpoint();
}

[[noreturn]] void refuse(int descriptor, int error, const char* what, const char* why) {
  throw std::system_error(
      error, std::generic_category(),
      std::string(what) + ": descriptor " + std::to_string(descriptor) + " " + why);
}

int ask(int descriptor, int option, const char* what) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0) return value;
  refuse(descriptor, errno, what, errno == ENOTSOCK ? "is no socket" : "cannot be asked");
}

}  // namespace

native_descriptor open_tcp_socket(address_family family) noexcept {
  const int of = family == address_family::ipv4 ? AF_INET : AF_INET6;
  const int made = ::socket(of, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  return made >= 0 ? made : -errno;
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
void set_only_v6(native_descriptor socket, bool on) noexcept {
  (void)set(socket, IPPROTO_IPV6, IPV6_V6ONLY, on ? 1 : 0);
}
void set_reset_at_close(native_descriptor socket) noexcept {
  (void)set(socket, SOL_SOCKET, SO_LINGER, ::linger{1, 0});
}
void end_listening(native_descriptor socket) noexcept { (void)::shutdown(socket, SHUT_RDWR); }

bool bind(native_descriptor socket, const endpoint& address) noexcept {
  const socket_address native(address);
  return ::bind(socket, native.data(), native.size()) == 0;
}
bool listen(native_descriptor socket, int backlog) noexcept {
  return ::listen(socket, backlog) == 0;
}
bool shut_down(native_descriptor socket, bool reads, bool writes) noexcept {
  const int how = reads && writes ? SHUT_RDWR : reads ? SHUT_RD : SHUT_WR;
  // ENOTCONN: nothing is left to be ended. A stream was connected once, so both ends have closed
  // it, or the peer has reset it, which stays with the socket for the next read or write to tell.
  return ::shutdown(socket, how) == 0 || errno == ENOTCONN;
}

endpoint local_endpoint_of(native_descriptor socket, const char* what) {
  return name_of(socket, &::getsockname, what);
}
endpoint remote_endpoint_of(native_descriptor socket, const char* what) {
  return name_of(socket, &::getpeername, what);
}

void check_adopted(native_descriptor descriptor, adopted_kind wanted, const char* what) {
  const int flags = ::fcntl(descriptor, F_GETFD);
  if (flags < 0) refuse(descriptor, errno, what, "is not open");
  const int family = ask(descriptor, SO_DOMAIN, what);
  if (ask(descriptor, SO_TYPE, what) != SOCK_STREAM || (family != AF_INET && family != AF_INET6) ||
      ask(descriptor, SO_PROTOCOL, what) != IPPROTO_TCP) {
    refuse(descriptor, EPROTOTYPE, what, "is no TCP socket");
  }
  const bool listens = ask(descriptor, SO_ACCEPTCONN, what) != 0;
  if (wanted == adopted_kind::listener && !listens) {
    refuse(descriptor, EINVAL, what, "does not listen: call listen() on it first");
  }
  if (wanted == adopted_kind::stream) {
    if (listens) refuse(descriptor, EINVAL, what, "listens: make it a tcp_listener");
    socket_address peer;
    if (::getpeername(descriptor, peer.data(), peer.capacity()) != 0) {
      refuse(descriptor, errno, what, "is not connected");
    }
  }
  const int status = ::fcntl(descriptor, F_GETFL);
  if (status < 0 || ::fcntl(descriptor, F_SETFL, status & ~O_NONBLOCK) != 0 ||
      ::fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) != 0) {
    refuse(descriptor, errno, what, "does not take its flags");
  }
}

bool set_no_delay(native_descriptor socket, bool on) noexcept {
  return set(socket, IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0);
}
bool set_keep_alive(native_descriptor descriptor, const std::optional<keep_alive>& alive) noexcept {
  // The times first, so that no probe goes by the system's.
  if (alive && !(set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, to_int(alive->idle.count())) &&
                 set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, to_int(alive->interval.count())) &&
                 set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, to_int(alive->probes)))) {
    return false;
  }
  return set(descriptor, SOL_SOCKET, SO_KEEPALIVE, alive ? 1 : 0);
}
bool set_linger(native_descriptor socket,
                const std::optional<std::chrono::seconds>& span) noexcept {
  const ::linger value{span ? 1 : 0, span ? to_int(span->count()) : 0};
  return set(socket, SOL_SOCKET, SO_LINGER, value);
}
bool set_receive_buffer_bytes(native_descriptor socket, std::size_t bytes) noexcept {
  return set(socket, SOL_SOCKET, SO_RCVBUF, to_int(bytes));
}
bool set_send_buffer_bytes(native_descriptor socket, std::size_t bytes) noexcept {
  return set(socket, SOL_SOCKET, SO_SNDBUF, to_int(bytes));
}
bool set_user_timeout(native_descriptor socket, std::chrono::milliseconds span) noexcept {
  return set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, to_int(span.count()));
}
bool set_quick_ack(native_descriptor socket, bool on) noexcept {
  return set(socket, IPPROTO_TCP, TCP_QUICKACK, on ? 1 : 0);
}

tcp_options options_of(native_descriptor fd, const char* what) {
  const auto flag = [fd, what](int level, int name) { return get(fd, level, name, what) != 0; };
  const auto bytes = [fd, what](int name) {
    return static_cast<std::size_t>(get(fd, SOL_SOCKET, name, what));
  };
  const auto span = [fd, what](int name) {
    return std::chrono::seconds(get(fd, IPPROTO_TCP, name, what));
  };
  tcp_options now;
  now.no_delay = flag(IPPROTO_TCP, TCP_NODELAY);
  if (flag(SOL_SOCKET, SO_KEEPALIVE)) {
    now.alive = keep_alive(span(TCP_KEEPIDLE), span(TCP_KEEPINTVL),
                           static_cast<unsigned>(get(fd, IPPROTO_TCP, TCP_KEEPCNT, what)));
  }
  const auto lingers = get<::linger>(fd, SOL_SOCKET, SO_LINGER, what);
  if (lingers.l_onoff != 0) now.linger = std::chrono::seconds(lingers.l_linger);
  now.receive_buffer_bytes = bytes(SO_RCVBUF);
  now.send_buffer_bytes = bytes(SO_SNDBUF);
  now.user_timeout =
      std::chrono::milliseconds(get<unsigned>(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, what));
  now.quick_ack = flag(IPPROTO_TCP, TCP_QUICKACK);
  return now;
}

}  // namespace tandem::inline v0::io::platform
