// descriptor.cpp: the end of sockets and files, and whether that has come.
// SPDX-License-Identifier: MIT
#include "platform/descriptor.hpp"

#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// A socket has its own call: CloseHandle() would leave behind what the library of sockets knows.
bool is_socket(native_descriptor descriptor) noexcept {
  if (start_sockets() != 0) return false;
  int type = 0;
  int size = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, reinterpret_cast<char*>(&type),  // NOLINT
                      &size) == 0;
}

}  // namespace

void close(native_descriptor descriptor) noexcept {
  if (is_socket(descriptor)) {
    (void)::closesocket(descriptor);
  } else {
    (void)::CloseHandle(handle_of(descriptor));
  }
}

bool is_open(native_descriptor descriptor) noexcept {
  DWORD flags = 0;
  return ::GetHandleInformation(handle_of(descriptor), &flags) != 0;
}

}  // namespace tandem::inline v0::io::platform
