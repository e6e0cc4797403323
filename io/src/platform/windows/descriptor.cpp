// descriptor.cpp: the end of sockets and files, and whether that has come.
// SPDX-License-Identifier: MIT
#include "platform/descriptor.hpp"

#include <cerrno>

#include "platform/windows/handle_questions.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

void close(native_descriptor descriptor) noexcept {
  // CloseHandle() would leave behind what the library of sockets knows.
  if (!is_socket(descriptor)) {
    (void)::CloseHandle(handle_of(descriptor));
    return;
  }
  if (::closesocket(descriptor) == 0 || ::WSAGetLastError() != WSAEWOULDBLOCK) return;
  // It lingers (SO_LINGER) and has something left to send: what does not block stays open then.
  u_long off = 0;
  (void)::ioctlsocket(descriptor, FIONBIO, &off);
  (void)::closesocket(descriptor);
}

// What is no descriptor is the handle of this process to Windows.
bool is_open(native_descriptor descriptor) noexcept {
  DWORD flags = 0;
  return detail::is_descriptor(descriptor) &&
         ::GetHandleInformation(handle_of(descriptor), &flags) != 0;
}

int last_number_of(native_descriptor socket) noexcept {
  const int number = last_socket_number();
  return number == number_of(WSAENOTSOCK) && !is_open(socket) ? EBADF : number;
}

}  // namespace tandem::inline v0::io::platform
