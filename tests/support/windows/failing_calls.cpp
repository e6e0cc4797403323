// failing_calls.cpp: calls of Windows about sockets, by the pointers through which they are called.
// SPDX-License-Identifier: MIT
#include "failing_calls.hpp"

#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>
#include <ws2tcpip.h>

#include <atomic>

namespace {

std::atomic<tandem::io::native_descriptor> aborted{tandem::io::no_descriptor};
std::atomic<int> resets{0};
std::atomic<tandem::io::native_descriptor> lingers{tandem::io::no_descriptor};
std::atomic<bool> hides_failed{false};
std::atomic<bool> is_alone{false};

using receive_function = int(WSAAPI*)(SOCKET, char*, int, int);
using close_function = int(WSAAPI*)(SOCKET);
using poll_function = int(WSAAPI*)(WSAPOLLFD*, ULONG, INT);
using look_up_function = int(WSAAPI*)(PCWSTR, PCWSTR, const ADDRINFOW*, ADDRINFOW**);
using control_function = int(WSAAPI*)(SOCKET, long, u_long*);
using accept_function = SOCKET(WSAAPI*)(SOCKET, sockaddr*, int*);

template <class Function>
Function of_the_system(const char* name) noexcept {
  return reinterpret_cast<Function>(reinterpret_cast<void*>(  // NOLINT
      ::GetProcAddress(::GetModuleHandleW(L"ws2_32.dll"), name)));
}

int WSAAPI receive(SOCKET socket, char* data, int bytes, int flags) noexcept {
  static const auto call = of_the_system<receive_function>("recv");
  if (socket == aborted.load()) {
    ::WSASetLastError(WSAECONNABORTED);
    return SOCKET_ERROR;
  }
  return call(socket, data, bytes, flags);
}

SOCKET WSAAPI accept_connection(SOCKET listener, sockaddr* address, int* size) noexcept {
  static const auto call = of_the_system<accept_function>("accept");
  int left = resets.load();
  while (left > 0) {
    if (!resets.compare_exchange_weak(left, left - 1)) continue;
    ::WSASetLastError(WSAECONNRESET);
    return INVALID_SOCKET;
  }
  return call(listener, address, size);
}

int WSAAPI close_socket(SOCKET socket) noexcept {
  static const auto call = of_the_system<close_function>("closesocket");
  if (socket == lingers.load()) {
    ::WSASetLastError(WSAEWOULDBLOCK);
    return SOCKET_ERROR;
  }
  return call(socket);
}

int WSAAPI control_socket(SOCKET socket, long what, u_long* value) noexcept {
  static const auto call = of_the_system<control_function>("ioctlsocket");
  const bool blocks = what == static_cast<long>(FIONBIO) && *value == 0;
  if (socket == lingers.load() && blocks) lingers.store(tandem::io::no_descriptor);
  return call(socket, what, value);
}

int WSAAPI poll_sockets(WSAPOLLFD* asked, ULONG count, INT limit_ms) noexcept {
  static const auto call = of_the_system<poll_function>("WSAPoll");
  const int answer = call(asked, count, limit_ms);
  sockaddr_storage peer;
  int size = sizeof peer;
  const bool hides = hides_failed.load() && answer == 1 && count == 1 &&
                     ::getpeername(asked->fd, reinterpret_cast<sockaddr*>(&peer),  // NOLINT
                                   &size) != 0;
  if (!hides) return answer;
  asked->revents = 0;
  return 0;
}

int WSAAPI look_up(PCWSTR host, PCWSTR service, const ADDRINFOW* hints,
                   ADDRINFOW** found) noexcept {
  static const auto call = of_the_system<look_up_function>("GetAddrInfoW");
  if (is_alone.load() && (hints->ai_flags & AI_ADDRCONFIG) != 0) return WSAHOST_NOT_FOUND;
  return call(host, service, hints, found);
}

}  // namespace

// The linker takes these rather than those of the library of imports.
extern "C" {
receive_function __imp_recv = &receive;             // NOLINT: its name
accept_function __imp_accept = &accept_connection;  // NOLINT
close_function __imp_closesocket = &close_socket;   // NOLINT
// Its header does not say that it is imported, so it is called by its name.
int WSAAPI WSAPoll(WSAPOLLFD* asked, ULONG count, INT limit_ms) {
  return poll_sockets(asked, count, limit_ms);
}
look_up_function __imp_GetAddrInfoW = &look_up;        // NOLINT
control_function __imp_ioctlsocket = &control_socket;  // NOLINT
}

namespace tandem::test {

io::io_backend backend_by_calls() noexcept { return io::io_backend::automatic; }
void abort_reads_of(io::native_descriptor socket) noexcept { aborted.store(socket); }
void reset_before_accept(int times) noexcept { resets.store(times); }
int resets_left() noexcept { return resets.load(); }
void has_more_to_send(io::native_descriptor socket) noexcept { lingers.store(socket); }
void hide_failed_connects(bool hides) noexcept { hides_failed.store(hides); }
void has_no_network(bool has_none) noexcept { is_alone.store(has_none); }

}  // namespace tandem::test
