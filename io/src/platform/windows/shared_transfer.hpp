// shared_transfer.hpp: one read or write of what others use, too, where it stands.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::platform {

/// Of a handle that open_shared() has made: what it is, so that nobody has to ask again. The system
/// answers no sooner than somebody's call on the same pipe has ended, if that is not overlapped.
/// Beside the states of a file that has joined no port (files.cpp).
enum class shared_kind : std::uint8_t {
  on_disk = 4,     ///< its calls end at the disk, and not with what somebody sends or takes
  in_turn = 5,     ///< one call at a time
  overlapped = 6,  ///< opened with FILE_FLAG_OVERLAPPED
};

/// By a thread of blocking(), which waits; a stop of its task ends that, but for what is on a disk.
///
/// pre: open_shared() has made it
/// @returns  bytes, 0 at the end, or a negative error number
std::int32_t transfer_on(bool reads, native_descriptor shared, void* data, std::size_t bytes,
                         shared_kind kind) noexcept;

}  // namespace tandem::inline v0::io::platform
