// descriptor_type.hpp: what the operating system calls an open socket or file, system by system.
// SPDX-License-Identifier: MIT
//
// Numbers fit an outcome (std::int32_t), whichever system it is: handles of Windows have 32 bits
// that say something, and those of a process's objects are small.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::inline v0::io::detail {

#if defined(_WIN32)
/// SOCKET and HANDLE.
using descriptor_type = std::uintptr_t;
inline constexpr descriptor_type no_descriptor_value = ~descriptor_type{0};
/// Handles are multiples of it.
inline constexpr std::size_t descriptor_step = 4;

/// Whether it may be one. What the system has made of it (0, INVALID_HANDLE_VALUE) is none.
constexpr bool is_descriptor(descriptor_type number) noexcept {
  return number != no_descriptor_value && number != 0;
}
/// What was opened, of its outcome.
constexpr descriptor_type descriptor_of(std::int32_t outcome) noexcept {
  return static_cast<std::uint32_t>(outcome);
}
#else
using descriptor_type = int;
inline constexpr descriptor_type no_descriptor_value = -1;
inline constexpr std::size_t descriptor_step = 1;

constexpr bool is_descriptor(descriptor_type number) noexcept { return number >= 0; }
constexpr descriptor_type descriptor_of(std::int32_t outcome) noexcept { return outcome; }
#endif

}  // namespace tandem::inline v0::io::detail
