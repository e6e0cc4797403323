// sockets.cpp: sockets by the calls of Windows.
// SPDX-License-Identifier: MIT
//
// Sockets of ours do not block, from their first moment to release(): no call of Windows can be
// told not to wait (attempt.cpp).
#include "platform/sockets.hpp"

#include "platform/datagrams.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

#include "platform/attempt.hpp"
#include "platform/descriptor.hpp"
#include "platform/windows/socket_address.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

// Windows 10 has them; not every tool chain names them.
constexpr int tcp_max_retransmit_ms = 14;  // TCP_MAXRTMS
constexpr int tcp_max_retransmit_s = 5;    // TCP_MAXRT
constexpr int tcp_keep_idle = 3;           // TCP_KEEPIDLE
constexpr int tcp_keep_count = 16;         // TCP_KEEPCNT
constexpr int tcp_keep_interval = 17;      // TCP_KEEPINTVL

std::error_code error_of_code(int code) noexcept {
  return error_of(number_of(static_cast<DWORD>(code)));
}

std::error_code error_of_call(native_descriptor socket, int answer) noexcept {
  return answer == 0 ? std::error_code() : error_of(last_number_of(socket));
}

std::error_code closed() noexcept { return error_of(EBADF); }

template <class T>
std::error_code set(native_descriptor socket, int level, int name, const T& value) noexcept {
  if (!detail::is_descriptor(socket)) return closed();
  return error_of_call(socket, ::setsockopt(socket, level, name,
                                            reinterpret_cast<const char*>(&value),  // NOLINT
                                            sizeof value));
}

/// Asks a socket for its options, one after another, and keeps the first failure.
class questions {
 public:
  explicit questions(native_descriptor descriptor) noexcept : descriptor_(descriptor) {}

  /// @returns  zero if it cannot be asked
  template <class T = int>
  T ask(int level, int name) noexcept {
    T value{};
    if (asked(level, name, value)) return value;
    if (!error) error = error_of(last_number_of(descriptor_));
    return T{};
  }
  /// Of what not every Windows knows. @returns  zero if this one does not
  int ask_perhaps(int level, int name) noexcept {
    int value = 0;
    return asked(level, name, value) ? value : 0;
  }

  std::error_code error;

 private:
  template <class T>
  bool asked(int level, int name, T& value) const noexcept {
    int size = sizeof value;
    return ::getsockopt(descriptor_, level, name, reinterpret_cast<char*>(&value),  // NOLINT
                        &size) == 0;
  }

  const native_descriptor descriptor_;
};

/// What does not fit is as good as the largest that does.
template <class Number>
int to_int(Number value) noexcept {
  if (std::cmp_less(value, 0)) return -1;  // which the system refuses
  return std::cmp_less(INT_MAX, value) ? INT_MAX : static_cast<int>(value);
}

/// @param ask  getsockname or getpeername
template <class Function>
result<endpoint> name_of(native_descriptor socket, Function ask) noexcept {
  if (!detail::is_descriptor(socket)) return closed();
  socket_address address;
  if (ask(socket, address.data(), address.capacity()) != 0) {
    return error_of(last_number_of(socket));
  }
  return address.to_endpoint();
}

refusal refuse(const std::error_code& error, const char* why) noexcept { return {error, why}; }

}  // namespace

namespace {

result<native_descriptor> open_socket(address_family family, int type, int protocol) noexcept {
  if (const int failure = start_sockets(); failure != 0) return error_of(failure);
  const int of = family == address_family::ipv4 ? AF_INET : AF_INET6;
  const SOCKET made = ::WSASocketW(of, type, protocol, nullptr, 0,
                                   WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (made == INVALID_SOCKET) return last_socket_error();
  set_non_blocking(made);
  return native_descriptor{made};
}

}  // namespace

result<native_descriptor> open_tcp_socket(address_family family) noexcept {
  return open_socket(family, SOCK_STREAM, IPPROTO_TCP);
}
result<native_descriptor> open_udp_socket(address_family family) noexcept {
  return open_socket(family, SOCK_DGRAM, IPPROTO_UDP);
}

void make_blocking(native_descriptor socket) noexcept {
  u_long off = 0;
  (void)::ioctlsocket(socket, FIONBIO, &off);
}

void set_reuse_address(native_descriptor socket, bool on) noexcept {
  // A port whose last connections linger may be bound here anyway; SO_REUSEADDR would let anybody
  // take one that is in use. Exclusive means that nobody can. Of datagrams that is what was asked
  // for: several sockets have one address, as for multicast.
  if (questions(socket).ask(SOL_SOCKET, SO_TYPE) == SOCK_DGRAM) {
    (void)set(socket, SOL_SOCKET, SO_REUSEADDR, on ? 1 : 0);
    return;
  }
  (void)set(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, on ? 1 : 0);
}
/// Windows spreads no connections over several sockets of one port: share_listener().
void set_reuse_port(native_descriptor /*socket*/) noexcept {}
result<native_descriptor> share_listener(native_descriptor listener) noexcept {
  WSAPROTOCOL_INFOW about{};
  if (::WSADuplicateSocketW(listener, ::GetCurrentProcessId(), &about) != 0) {
    return last_socket_error();
  }
  const SOCKET made = ::WSASocketW(FROM_PROTOCOL_INFO, FROM_PROTOCOL_INFO, FROM_PROTOCOL_INFO,
                                   &about, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (made == INVALID_SOCKET) return last_socket_error();
  set_non_blocking(made);  // nobody promises that it has the other one's mode
  return native_descriptor{made};
}
void set_only_v6(native_descriptor socket, bool on) noexcept {
  (void)set(socket, IPPROTO_IPV6, IPV6_V6ONLY, on ? 1 : 0);
}
void set_reset_at_close(native_descriptor socket) noexcept {
  (void)set(socket, SOL_SOCKET, SO_LINGER, ::linger{1, 0});
}
/// shutdown() of a socket that listens fails (WSAENOTCONN); closing it, which follows, tells those
/// who wait.
void end_listening(native_descriptor /*socket*/) noexcept {}

std::error_code bind(native_descriptor socket, const endpoint& address) noexcept {
  const socket_address native(address);
  return error_of_call(socket, ::bind(socket, native.data(), native.size()));
}
std::error_code listen(native_descriptor socket, int backlog) noexcept {
  return error_of_call(socket, ::listen(socket, backlog));
}
std::error_code shut_down(native_descriptor socket, bool reads, bool writes) noexcept {
  const int how = reads && writes ? SD_BOTH : reads ? SD_RECEIVE : SD_SEND;
  if (::shutdown(socket, how) == 0) return {};
  const int code = ::WSAGetLastError();
  // Nothing is left to be ended: both ends have closed it, or the peer has reset it.
  if (code == WSAENOTCONN || code == WSAECONNRESET || code == WSAECONNABORTED) return {};
  return error_of(last_number_of(socket));
}

/// The driver tells only of what the peer has ended.
bool tells_own_shut_down() noexcept { return false; }

result<endpoint> local_endpoint_of(native_descriptor socket) noexcept {
  return name_of(socket, &::getsockname);
}
result<endpoint> remote_endpoint_of(native_descriptor socket) noexcept {
  return name_of(socket, &::getpeername);
}

refusal adopt_socket(native_descriptor descriptor, adopted_kind wanted) noexcept {
  if (const int failure = start_sockets(); failure != 0) {
    return refuse(error_of(failure), "cannot be asked");
  }
  if (!is_open(descriptor)) return refuse(closed(), "is not open");
  questions socket(descriptor);
  const auto protocol = socket.ask<WSAPROTOCOL_INFOW>(SOL_SOCKET, SO_PROTOCOL_INFOW);
  const bool listens = socket.ask(SOL_SOCKET, SO_ACCEPTCONN) != 0;
  if (socket.error) {
    return {socket.error,
            socket.error == std::errc::not_a_socket ? "is no socket" : "cannot be asked"};
  }
  const bool is_of_internet =
      protocol.iAddressFamily == AF_INET || protocol.iAddressFamily == AF_INET6;
  if (wanted == adopted_kind::datagrams) {
    if (protocol.iSocketType != SOCK_DGRAM || !is_of_internet) {
      return refuse(error_of_code(WSAEPROTOTYPE), "is no UDP socket");
    }
  } else if (protocol.iSocketType != SOCK_STREAM || !is_of_internet ||
             protocol.iProtocol != IPPROTO_TCP) {
    return refuse(error_of_code(WSAEPROTOTYPE), "is no TCP socket");
  }
  if (wanted == adopted_kind::listener && !listens) {
    return refuse(error_of_code(WSAEINVAL), "does not listen: call listen() on it first");
  }
  if (wanted == adopted_kind::stream) {
    if (listens) return refuse(error_of_code(WSAEINVAL), "listens: make it a tcp_listener");
    socket_address peer;
    if (::getpeername(descriptor, peer.data(), peer.capacity()) != 0) {
      return refuse(last_socket_error(), "is not connected");
    }
  }
  u_long on = 1;
  if (::ioctlsocket(descriptor, FIONBIO, &on) != 0) {
    return refuse(last_socket_error(), "does not take its flags");
  }
  if (::SetHandleInformation(handle_of(descriptor), HANDLE_FLAG_INHERIT, 0) == 0) {
    return refuse(last_error(), "does not take its flags");
  }
  return {};
}

std::error_code set_no_delay(native_descriptor socket, bool on) noexcept {
  return set(socket, IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0);
}
std::error_code set_keep_alive(native_descriptor socket,
                               const std::optional<keep_alive>& alive) noexcept {
  if (!alive) return set(socket, SOL_SOCKET, SO_KEEPALIVE, 0);
  if (alive->idle.count() <= 0 || alive->interval.count() <= 0 || alive->probes == 0) {
    return error_of_code(WSAEINVAL);  // not every Windows says so
  }
  // The times first, so that no probe goes by the system's.
  const auto set_time = [socket](int name, int value) {
    return set(socket, IPPROTO_TCP, name, value);
  };
  const std::error_code known = set_time(tcp_keep_idle, to_int(alive->idle.count()));
  if (!known) {  // Windows 10, 1709
    if (const auto error = set_time(tcp_keep_interval, to_int(alive->interval.count()))) {
      return error;
    }
    if (const auto error = set_time(tcp_keep_count, to_int(alive->probes))) return error;
    return set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  }
  if (known == std::errc::invalid_argument) return known;
  // Before that the number of probes is the system's, ten.
  const auto ms_of = [](std::chrono::seconds span) {
    return static_cast<u_long>(to_int(std::chrono::milliseconds(span).count()));
  };
  tcp_keepalive times{1, ms_of(alive->idle), ms_of(alive->interval)};
  DWORD bytes = 0;
  return error_of_call(socket, ::WSAIoctl(socket, SIO_KEEPALIVE_VALS, &times, sizeof times, nullptr,
                                          0, &bytes, nullptr, nullptr));
}
std::error_code set_linger(native_descriptor socket,
                           const std::optional<std::chrono::seconds>& span) noexcept {
  if (span && span->count() < 0) return error_of_code(WSAEINVAL);
  const auto seconds = static_cast<u_short>(span ? std::min<long long>(span->count(), 0xffff) : 0);
  return set(socket, SOL_SOCKET, SO_LINGER, ::linger{static_cast<u_short>(span ? 1 : 0), seconds});
}
std::error_code set_receive_buffer_bytes(native_descriptor socket, std::size_t bytes) noexcept {
  return set(socket, SOL_SOCKET, SO_RCVBUF, to_int(bytes));
}
std::error_code set_send_buffer_bytes(native_descriptor socket, std::size_t bytes) noexcept {
  return set(socket, SOL_SOCKET, SO_SNDBUF, to_int(bytes));
}
std::error_code set_user_timeout(native_descriptor socket,
                                 std::chrono::milliseconds span) noexcept {
  const std::error_code error =
      set(socket, IPPROTO_TCP, tcp_max_retransmit_ms, to_int(span.count()));
  if (error != std::errc::no_protocol_option) return error;
  // Before Windows 10, 2004 in whole seconds.
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(span).count();
  return set(socket, IPPROTO_TCP, tcp_max_retransmit_s, to_int(seconds));
}
/// Windows has no such option.
std::error_code set_quick_ack(native_descriptor /*socket*/, bool /*on*/) noexcept {
  return error_of_code(WSAENOPROTOOPT);
}

result<tcp_options> options_of(native_descriptor descriptor) noexcept {
  questions socket(descriptor);
  const auto flag = [&socket](int level, int name) { return socket.ask(level, name) != 0; };
  const auto bytes = [&socket](int name) {
    return static_cast<std::size_t>(socket.ask(SOL_SOCKET, name));
  };
  const auto span = [&socket](int name) {
    return std::chrono::seconds(socket.ask_perhaps(IPPROTO_TCP, name));
  };
  tcp_options now;
  now.no_delay = flag(IPPROTO_TCP, TCP_NODELAY);
  if (flag(SOL_SOCKET, SO_KEEPALIVE)) {
    now.alive = keep_alive(span(tcp_keep_idle), span(tcp_keep_interval),
                           static_cast<unsigned>(socket.ask_perhaps(IPPROTO_TCP, tcp_keep_count)));
  }
  const auto lingers = socket.ask<::linger>(SOL_SOCKET, SO_LINGER);
  if (lingers.l_onoff != 0) now.linger = std::chrono::seconds(lingers.l_linger);
  now.receive_buffer_bytes = bytes(SO_RCVBUF);
  now.send_buffer_bytes = bytes(SO_SNDBUF);
  if (const int ms = socket.ask_perhaps(IPPROTO_TCP, tcp_max_retransmit_ms); ms > 0) {
    now.user_timeout = std::chrono::milliseconds(ms);
  } else if (const int s = socket.ask_perhaps(IPPROTO_TCP, tcp_max_retransmit_s); s > 0) {
    now.user_timeout = std::chrono::seconds(s);
  }
  if (socket.error) return socket.error;
  return now;
}

}  // namespace tandem::inline v0::io::platform
