// plain_sockets.cpp: sockets by calls of Linux.
// SPDX-License-Identifier: MIT
#include "plain_sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace tandem::test {

namespace {

/// A port of loopback as the system takes it. @returns the bytes that it takes in `room`
socklen_t write_loopback(int family, std::uint16_t port, sockaddr_storage& room) {
  room = {};
  if (family == AF_INET) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(room);  // NOLINT
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof v4;
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(room);  // NOLINT
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  return sizeof v6;
}

std::uint16_t port_of(const sockaddr_storage& room) {
  return ntohs(room.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in&>(room).sin_port      // NOLINT
                   : reinterpret_cast<const sockaddr_in6&>(room).sin6_port);  // NOLINT
}

sockaddr* plain(sockaddr_storage& room) { return reinterpret_cast<sockaddr*>(&room); }  // NOLINT

int family_of(socket_kind kind) { return kind == socket_kind::datagram_v6 ? AF_INET6 : AF_INET; }

}  // namespace

plain_socket open_plain(socket_kind kind, bool blocks) {
  const int type = (kind == socket_kind::stream_v4 ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC;
  const int made = ::socket(family_of(kind), type | (blocks ? 0 : SOCK_NONBLOCK), 0);
  EXPECT_GE(made, 0);
  return made;
}
void close_plain(plain_socket closed) noexcept { ::close(closed); }

std::array<plain_socket, 2> connected_plain(bool blocks) {
  std::array<plain_socket, 2> ends{io::no_descriptor, io::no_descriptor};
  const int type = SOCK_STREAM | SOCK_CLOEXEC | (blocks ? 0 : SOCK_NONBLOCK);
  EXPECT_EQ(::socketpair(AF_UNIX, type, 0, ends.data()), 0);
  return ends;
}

plain_socket bound_plain(socket_kind kind, std::uint16_t& port) {
  const plain_socket made = open_plain(kind);
  sockaddr_storage room;
  socklen_t size = write_loopback(family_of(kind), 0, room);
  EXPECT_EQ(::bind(made, plain(room), size), 0);
  EXPECT_EQ(::getsockname(made, plain(room), &size), 0);
  port = port_of(room);
  return made;
}
plain_socket listening_plain(std::uint16_t& port, int backlog) {
  const plain_socket made = bound_plain(socket_kind::stream_v4, port);
  EXPECT_EQ(::listen(made, backlog), 0);
  return made;
}

std::errc connect_plain(plain_socket stream, std::uint16_t port, std::uint32_t address) noexcept {
  sockaddr_storage room;
  const socklen_t size = write_loopback(AF_INET, port, room);
  reinterpret_cast<sockaddr_in&>(room).sin_addr.s_addr = htonl(address);  // NOLINT
  return ::connect(stream, plain(room), size) == 0 ? std::errc{} : last_plain_error();
}
plain_socket accept_plain(plain_socket listener) noexcept {
  return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
}

std::ptrdiff_t send_plain(plain_socket to, const void* bytes, std::size_t count) noexcept {
  return ::send(to, bytes, count, MSG_NOSIGNAL);
}
std::ptrdiff_t send_plain(plain_socket to, std::uint16_t port, const void* bytes,
                          std::size_t count) noexcept {
  sockaddr_storage room;
  const socklen_t size = write_loopback(AF_INET, port, room);
  return ::sendto(to, bytes, count, MSG_NOSIGNAL, plain(room), size);
}
std::ptrdiff_t receive_plain(plain_socket from, void* room, std::size_t bytes) noexcept {
  return ::recv(from, room, bytes, 0);
}
std::errc last_plain_error() noexcept { return static_cast<std::errc>(errno); }

std::uint32_t loopback_index() noexcept {
  const unsigned index = ::if_nametoindex("lo");
  return index != 0 ? index : ::if_nametoindex("lo0");
}
bool is_open_plain(plain_socket number) noexcept { return ::fcntl(number, F_GETFD) >= 0; }
int flags_of_plain(plain_socket number) noexcept {
  const int inherited = ::fcntl(number, F_GETFD);
  return inherited < 0 ? -1 : ::fcntl(number, F_GETFL) * 2 + inherited;
}
bool is_inherited_plain(plain_socket number) noexcept {
  return (::fcntl(number, F_GETFD) & FD_CLOEXEC) == 0;
}
void inherit_plain(plain_socket number) noexcept { EXPECT_EQ(::fcntl(number, F_SETFD, 0), 0); }
void set_blocking(plain_socket socket, bool blocks) noexcept {
  EXPECT_EQ(::fcntl(socket, F_SETFL, blocks ? 0 : O_NONBLOCK), 0);
}
void make_like_ours(plain_socket /*socket*/) noexcept {}
std::size_t bytes_to_read(plain_socket socket) noexcept {
  int bytes = 0;
  EXPECT_EQ(::ioctl(socket, FIONREAD, &bytes), 0);
  return static_cast<std::size_t>(bytes);
}
void end_writing(plain_socket stream) noexcept {
  const bool ended = ::shutdown(stream, SHUT_WR) == 0;
  EXPECT_TRUE(ended || last_plain_error() == std::errc::not_connected);  // its peer has reset it
}
void end_reading(plain_socket stream) noexcept { EXPECT_EQ(::shutdown(stream, SHUT_RD), 0); }
void reset_at_close(plain_socket stream) noexcept {
  const linger at_once{1, 0};
  EXPECT_EQ(::setsockopt(stream, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
}
void send_at_once(plain_socket stream) noexcept {
  const int on = 1;
  EXPECT_EQ(::setsockopt(stream, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
}
plain_socket duplicate_plain(plain_socket socket) noexcept {
  return ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
}
bool renumber_plain(plain_socket socket, plain_socket number) noexcept {
  if (is_open_plain(number) || ::dup3(socket, number, O_CLOEXEC) != number) return false;
  ::close(socket);
  return true;
}

std::array<plain_socket, 2> plain_pipe() {
  std::array<plain_socket, 2> ends{io::no_descriptor, io::no_descriptor};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return ends;
}
plain_socket open_nothing() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
void close_other(plain_socket closed) noexcept { ::close(closed); }

std::vector<bool> wait_readable(const std::vector<plain_socket>& all, long limit_us) {
  std::vector<pollfd> asked;
  for (const plain_socket each : all) asked.push_back(pollfd{each, POLLIN, 0});
  const timespec limit{limit_us / 1'000'000, limit_us % 1'000'000 * 1000};
  ::ppoll(asked.data(), asked.size(), limit_us < 0 ? nullptr : &limit, nullptr);
  std::vector<bool> ready;
  for (const pollfd& each : asked) ready.push_back(each.revents != 0);
  return ready;
}

}  // namespace tandem::test
