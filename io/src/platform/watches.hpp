// watches.hpp: changes of directories and files, told by the system.
// SPDX-License-Identifier: MIT
//
// What may fail answers with a std::error_code, or a result that holds one. Where the system tells
// no changes by a descriptor that is read, all of it answers not_supported.
#pragma once

#include <cstddef>
#include <span>
#include <system_error>
#include <tandem/io/file_change.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

/// Room for what one read gives; aligned to 8 bytes. A single change always fits.
inline constexpr std::size_t change_bytes = std::size_t{16} << 10;

/// @returns  a descriptor that is read, and is not inherited across exec
result<native_descriptor> open_watches() noexcept;
/// Looks the path up, so it waits for the disk.
///
/// @returns  the watch's number; that of an earlier one of the same file, which is changed then
result<int> add_watch(native_descriptor watches, const char* path, watch_for what,
                      bool follows_link) noexcept;
std::error_code remove_watch(native_descriptor watches, int watch) noexcept;
/// pre: `read` begins with a change, as one read gave it
/// @returns  how many bytes it takes. @throws std::bad_alloc
std::size_t next_change(std::span<const std::byte> read, file_change& out);

}  // namespace tandem::inline v0::io::platform
