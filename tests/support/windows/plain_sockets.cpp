// plain_sockets.cpp: sockets by calls of Windows.
// SPDX-License-Identifier: MIT
#include "plain_sockets.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <gtest/gtest.h>
#include <windows.h>
#include <winsock2.h>
#include <ws2tcpip.h>

#include <algorithm>
#include <mutex>

namespace tandem::test {

namespace {

SOCKET socket_of(plain_socket number) { return static_cast<SOCKET>(number); }
HANDLE handle_of(plain_socket number) { return reinterpret_cast<HANDLE>(number); }  // NOLINT

void start_once() {
  static const bool started = [] {
    WSADATA about{};
    return ::WSAStartup(MAKEWORD(2, 2), &about) == 0;
  }();
  EXPECT_TRUE(started);
}

/// A port of loopback as the system takes it. @returns the bytes that it takes in `room`
int write_loopback(int family, std::uint16_t port, sockaddr_storage& room) {
  room = {};
  if (family == AF_INET) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(room);  // NOLINT
    v4.sin_family = AF_INET;
    v4.sin_port = ::htons(port);
    v4.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    return sizeof v4;
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(room);  // NOLINT
  v6.sin6_family = AF_INET6;
  v6.sin6_port = ::htons(port);
  v6.sin6_addr.s6_addr[15] = 1;  // loopback
  return sizeof v6;
}

std::uint16_t port_of(const sockaddr_storage& room) {
  return ::ntohs(room.ss_family == AF_INET
                     ? reinterpret_cast<const sockaddr_in&>(room).sin_port      // NOLINT
                     : reinterpret_cast<const sockaddr_in6&>(room).sin6_port);  // NOLINT
}

sockaddr* plain(sockaddr_storage& room) { return reinterpret_cast<sockaddr*>(&room); }  // NOLINT

int family_of(socket_kind kind) { return kind == socket_kind::datagram_v6 ? AF_INET6 : AF_INET; }

/// SO_LINGER and the like, which take what the system's headers call characters.
template <class Value>
void set_option(plain_socket of, int level, int name, const Value& value) {
  EXPECT_EQ(::setsockopt(socket_of(of), level, name,
                         reinterpret_cast<const char*>(&value),  // NOLINT
                         sizeof value),
            0);
}

}  // namespace

plain_socket open_plain(socket_kind kind, bool blocks) {
  start_once();
  const int type = kind == socket_kind::stream_v4 ? SOCK_STREAM : SOCK_DGRAM;
  const auto made = static_cast<plain_socket>(::WSASocketW(
      family_of(kind), type, 0, nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT));
  EXPECT_NE(made, io::no_descriptor);
  if (!blocks) set_blocking(made, false);
  return made;
}
void close_plain(plain_socket closed) noexcept { ::closesocket(socket_of(closed)); }

// Windows has no pairs: by loopback, and without the wait for more to send.
std::array<plain_socket, 2> connected_plain(bool blocks) {
  std::uint16_t port = 0;
  const plain_socket listener = listening_plain(port, 1);
  const plain_socket one = open_plain(socket_kind::stream_v4);
  EXPECT_EQ(connect_plain(one, port), std::errc{});
  const plain_socket other = accept_plain(listener);
  EXPECT_NE(other, io::no_descriptor);
  close_plain(listener);
  for (const plain_socket each : {one, other}) {
    send_at_once(each);
    if (!blocks) set_blocking(each, false);
  }
  return {one, other};
}

plain_socket bound_plain(socket_kind kind, std::uint16_t& port) {
  const plain_socket made = open_plain(kind);
  sockaddr_storage room;
  int size = write_loopback(family_of(kind), 0, room);
  EXPECT_EQ(::bind(socket_of(made), plain(room), size), 0);
  EXPECT_EQ(::getsockname(socket_of(made), plain(room), &size), 0);
  port = port_of(room);
  return made;
}
plain_socket listening_plain(std::uint16_t& port, int backlog) {
  const plain_socket made = bound_plain(socket_kind::stream_v4, port);
  EXPECT_EQ(::listen(socket_of(made), backlog), 0);
  return made;
}

std::errc connect_plain(plain_socket stream, std::uint16_t port, std::uint32_t address) noexcept {
  sockaddr_storage room;
  const int size = write_loopback(AF_INET, port, room);
  reinterpret_cast<sockaddr_in&>(room).sin_addr.s_addr = ::htonl(address);  // NOLINT
  if (::connect(socket_of(stream), plain(room), size) == 0) return std::errc{};
  const std::errc why = last_plain_error();
  return why == std::errc::operation_would_block ? std::errc::operation_in_progress : why;
}
plain_socket accept_plain(plain_socket listener) noexcept {
  return static_cast<plain_socket>(::accept(socket_of(listener), nullptr, nullptr));
}

std::ptrdiff_t send_plain(plain_socket to, const void* bytes, std::size_t count) noexcept {
  return ::send(socket_of(to), static_cast<const char*>(bytes), static_cast<int>(count), 0);
}
// Under wine one of two threads that send by one socket at the same time is told that there is no
// room (WSAEWOULDBLOCK).
std::ptrdiff_t send_plain(plain_socket to, std::uint16_t port, const void* bytes,
                          std::size_t count) noexcept {
  static std::mutex sending;
  const std::lock_guard alone(sending);
  sockaddr_storage room;
  const int size = write_loopback(AF_INET, port, room);
  return ::sendto(socket_of(to), static_cast<const char*>(bytes), static_cast<int>(count), 0,
                  plain(room), size);
}
std::ptrdiff_t receive_plain(plain_socket from, void* room, std::size_t bytes) noexcept {
  return ::recv(socket_of(from), static_cast<char*>(room), static_cast<int>(bytes), 0);
}

std::errc last_plain_error() noexcept {
  switch (::WSAGetLastError()) {
    case WSAEWOULDBLOCK: return std::errc::operation_would_block;
    case WSAEINPROGRESS: return std::errc::operation_in_progress;
    case WSAECONNRESET: return std::errc::connection_reset;
    case WSAECONNABORTED: return std::errc::connection_aborted;
    case WSAECONNREFUSED: return std::errc::connection_refused;
    case WSAESHUTDOWN: return std::errc::broken_pipe;
    case WSAENOTCONN: return std::errc::not_connected;
    case WSAENOTSOCK: return std::errc::not_a_socket;
    default: return std::errc::io_error;
  }
}

/// Number 1 on all Windows.
std::uint32_t loopback_index() noexcept { return 1; }
bool is_open_plain(plain_socket number) noexcept {
  DWORD flags = 0;
  return ::GetHandleInformation(handle_of(number), &flags) != 0;
}
int flags_of_plain(plain_socket number) noexcept {
  DWORD flags = 0;
  return ::GetHandleInformation(handle_of(number), &flags) != 0 ? static_cast<int>(flags) : -1;
}
bool is_inherited_plain(plain_socket number) noexcept {
  return (flags_of_plain(number) & HANDLE_FLAG_INHERIT) != 0;
}
void inherit_plain(plain_socket number) noexcept {
  EXPECT_NE(::SetHandleInformation(handle_of(number), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT), 0);
}
void set_blocking(plain_socket socket, bool blocks) noexcept {
  u_long never = blocks ? 0 : 1;
  EXPECT_EQ(::ioctlsocket(socket_of(socket), static_cast<long>(FIONBIO), &never), 0);
}
void make_like_ours(plain_socket socket) noexcept { set_blocking(socket, false); }
std::size_t bytes_to_read(plain_socket socket) noexcept {
  u_long bytes = 0;
  EXPECT_EQ(::ioctlsocket(socket_of(socket), static_cast<long>(FIONREAD), &bytes), 0);
  return bytes;
}
void end_writing(plain_socket stream) noexcept {
  EXPECT_EQ(::shutdown(socket_of(stream), SD_SEND), 0);
}
void end_reading(plain_socket stream) noexcept {
  EXPECT_EQ(::shutdown(socket_of(stream), SD_RECEIVE), 0);
}
void reset_at_close(plain_socket stream) noexcept {
  set_option(stream, SOL_SOCKET, SO_LINGER, linger{1, 0});
}
void send_at_once(plain_socket stream) noexcept {
  set_option(stream, IPPROTO_TCP, TCP_NODELAY, BOOL{TRUE});
}

// DuplicateHandle() makes what the library of sockets does not know.
plain_socket duplicate_plain(plain_socket socket) noexcept {
  WSAPROTOCOL_INFOW about{};
  if (::WSADuplicateSocketW(socket_of(socket), ::GetCurrentProcessId(), &about) != 0) {
    return io::no_descriptor;
  }
  return static_cast<plain_socket>(::WSASocketW(FROM_PROTOCOL_INFO, FROM_PROTOCOL_INFO,
                                                FROM_PROTOCOL_INFO, &about, 0,
                                                WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT));
}

// Nobody may choose a number here, but the system gives those again that have been closed.
bool renumber_plain(plain_socket socket, plain_socket number) noexcept {
  std::vector<plain_socket> others;
  bool has_it = false;
  while (!has_it && others.size() < 1000) {
    const plain_socket made = duplicate_plain(socket);
    has_it = made == number;
    if (!has_it) others.push_back(made);
  }
  for (const plain_socket each : others) close_plain(each);
  close_plain(socket);
  return has_it;
}

std::array<plain_socket, 2> plain_pipe() {
  HANDLE from = nullptr;
  HANDLE to = nullptr;
  EXPECT_NE(::CreatePipe(&from, &to, nullptr, 0), 0);
  return {reinterpret_cast<plain_socket>(from), reinterpret_cast<plain_socket>(to)};  // NOLINT
}
plain_socket open_nothing() {
  return reinterpret_cast<plain_socket>(  // NOLINT
      ::CreateFileW(L"NUL", GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr));
}
void close_other(plain_socket closed) noexcept { ::CloseHandle(handle_of(closed)); }

std::vector<bool> wait_readable(const std::vector<plain_socket>& all, long limit_us) {
  // Whole milliseconds, rounded up; no call takes an empty list.
  const int limit_ms = limit_us < 0 ? -1 : static_cast<int>((limit_us + 999) / 1000);
  std::vector<WSAPOLLFD> asked;
  for (const plain_socket each : all) {
    if (each != io::no_descriptor) asked.push_back(WSAPOLLFD{socket_of(each), POLLRDNORM, 0});
  }
  ::WSAPoll(asked.data(), static_cast<ULONG>(asked.size()), limit_ms);
  std::vector<bool> ready;
  auto next = asked.begin();
  for (const plain_socket each : all) {
    ready.push_back(each != io::no_descriptor && (next++)->revents != 0);
  }
  return ready;
}

}  // namespace tandem::test
