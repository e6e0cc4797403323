// socket_options.cpp: setting and reading the options of a TCP socket.
// SPDX-License-Identifier: MIT
#include "net/socket_options.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <climits>
#include <tandem/io/tcp_stream.hpp>
#include <utility>

#include "net/socket_calls.hpp"

namespace tandem::inline v0::io {

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

bool set_alive(int descriptor, const std::optional<keep_alive>& alive) noexcept {
  // The times first, so that no probe goes by the system's.
  if (alive && !(set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, to_int(alive->idle.count())) &&
                 set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, to_int(alive->interval.count())) &&
                 set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, to_int(alive->probes)))) {
    return false;
  }
  return set(descriptor, SOL_SOCKET, SO_KEEPALIVE, alive ? 1 : 0);
}

bool set_linger_of(int descriptor, const std::optional<std::chrono::seconds>& span) noexcept {
  const ::linger value{span ? 1 : 0, span ? to_int(span->count()) : 0};
  return set(descriptor, SOL_SOCKET, SO_LINGER, value);
}

bool set_user_timeout_of(int descriptor, std::chrono::milliseconds span) noexcept {
  return set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, to_int(span.count()));
}

void check(bool done, const char* what) {
  if (!done) throw_last_error(what);
}

}  // namespace

const char* apply_options(int descriptor, const tcp_options& options) noexcept {
  const int fd = descriptor;
  if (!set(fd, IPPROTO_TCP, TCP_NODELAY, options.no_delay ? 1 : 0)) return "no_delay";
  if (options.alive && !set_alive(fd, options.alive)) return "alive";
  if (options.linger && !set_linger_of(fd, options.linger)) return "linger";
  if (options.receive_buffer_bytes &&
      !set(fd, SOL_SOCKET, SO_RCVBUF, to_int(*options.receive_buffer_bytes))) {
    return "receive_buffer_bytes";
  }
  if (options.send_buffer_bytes &&
      !set(fd, SOL_SOCKET, SO_SNDBUF, to_int(*options.send_buffer_bytes))) {
    return "send_buffer_bytes";
  }
  if (options.user_timeout && !set_user_timeout_of(fd, *options.user_timeout)) {
    return "user_timeout";
  }
  if (options.quick_ack && !set(fd, IPPROTO_TCP, TCP_QUICKACK, *options.quick_ack ? 1 : 0)) {
    return "quick_ack";
  }
  return nullptr;
}

void apply_options_or_throw(int descriptor, const tcp_options& options, const char* what) {
  const char* const refused = apply_options(descriptor, options);
  if (refused == nullptr) return;
  const int error = errno;
  throw std::system_error(error, std::generic_category(),
                          std::string(what) + ": tcp_options::" + refused);
}

void tcp_stream::set_options(const tcp_options& options) {
  apply_options_or_throw(socket_.descriptor(), options, "tcp_stream::set_options");
}

void tcp_stream::set_no_delay(bool on) {
  check(set(socket_.descriptor(), IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0),
        "tcp_stream::set_no_delay");
}
void tcp_stream::set_keep_alive(const std::optional<keep_alive>& alive) {
  check(set_alive(socket_.descriptor(), alive), "tcp_stream::set_keep_alive");
}
void tcp_stream::set_linger(const std::optional<std::chrono::seconds>& span) {
  check(set_linger_of(socket_.descriptor(), span), "tcp_stream::set_linger");
}
void tcp_stream::set_receive_buffer_bytes(std::size_t bytes) {
  check(set(socket_.descriptor(), SOL_SOCKET, SO_RCVBUF, to_int(bytes)),
        "tcp_stream::set_receive_buffer_bytes");
}
void tcp_stream::set_send_buffer_bytes(std::size_t bytes) {
  check(set(socket_.descriptor(), SOL_SOCKET, SO_SNDBUF, to_int(bytes)),
        "tcp_stream::set_send_buffer_bytes");
}
void tcp_stream::set_user_timeout(std::chrono::milliseconds span) {
  check(set_user_timeout_of(socket_.descriptor(), span), "tcp_stream::set_user_timeout");
}
void tcp_stream::set_quick_ack(bool on) {
  check(set(socket_.descriptor(), IPPROTO_TCP, TCP_QUICKACK, on ? 1 : 0),
        "tcp_stream::set_quick_ack");
}

tcp_options tcp_stream::options() const {
  constexpr const char* what = "tcp_stream::options";
  const int fd = socket_.descriptor();
  const auto flag = [fd](int level, int name) { return get(fd, level, name, what) != 0; };
  const auto bytes = [fd](int name) {
    return static_cast<std::size_t>(get(fd, SOL_SOCKET, name, what));
  };
  const auto span = [fd](int name) {
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

}  // namespace tandem::inline v0::io
