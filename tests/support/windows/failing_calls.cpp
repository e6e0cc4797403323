// failing_calls.cpp: recv() and accept() of Windows, by the pointers through which they are called.
// SPDX-License-Identifier: MIT
#include "failing_calls.hpp"

#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>

#include <atomic>

namespace {

std::atomic<tandem::io::native_descriptor> aborted{tandem::io::no_descriptor};
std::atomic<int> resets{0};

using receive_function = int(WSAAPI*)(SOCKET, char*, int, int);
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

}  // namespace

// The linker takes these rather than those of the library of imports.
extern "C" {
receive_function __imp_recv = &receive;             // NOLINT: its name
accept_function __imp_accept = &accept_connection;  // NOLINT
}

namespace tandem::test {

io::io_backend backend_by_calls() noexcept { return io::io_backend::automatic; }
void abort_reads_of(io::native_descriptor socket) noexcept { aborted.store(socket); }
void reset_before_accept(int times) noexcept { resets.store(times); }
int resets_left() noexcept { return resets.load(); }

}  // namespace tandem::test
