// system.hpp: the one place that includes the headers of Windows and of its sockets, and their error numbers.
// SPDX-License-Identifier: MIT
#pragma once

#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
// In this order.
#include <winsock2.h>
#include <ws2tcpip.h>

#include <windows.h>

#include <mstcpip.h>

#include <cstdint>
#include <system_error>
#include <tandem/io/native_descriptor.hpp>

#include "platform/error_number.hpp"

namespace tandem::inline v0::io::platform {

/// Above all numbers of errno.
inline constexpr int windows_numbers = 0x10000;

/// What outcomes hold of a code of Windows: errno where this library itself looks at it, else the
/// code above windows_numbers.
int number_of(DWORD code) noexcept;
inline int last_number() noexcept { return number_of(::GetLastError()); }
inline int last_socket_number() noexcept {
  return number_of(static_cast<DWORD>(::WSAGetLastError()));
}
/// Of a call about `socket`: Windows says also of what is closed that it is no socket.
int last_number_of(native_descriptor socket) noexcept;
inline std::error_code last_error() noexcept { return error_of(last_number()); }
inline std::error_code last_socket_error() noexcept { return error_of(last_socket_number()); }

/// WSAStartup(), once in a process; all that makes a socket, or looks one up, begins with it.
/// @returns  0 or a number
int start_sockets() noexcept;

inline HANDLE handle_of(native_descriptor file) noexcept {
  return reinterpret_cast<HANDLE>(file);  // NOLINT: it is one
}
inline native_descriptor descriptor_of(HANDLE handle) noexcept {
  return reinterpret_cast<native_descriptor>(handle);  // NOLINT
}
/// What an outcome holds of it: handles have 32 bits that say something, the highest of which is
/// never set for objects of a process.
inline std::int32_t outcome_of(native_descriptor opened) noexcept {
  return static_cast<std::int32_t>(opened);
}

}  // namespace tandem::inline v0::io::platform
