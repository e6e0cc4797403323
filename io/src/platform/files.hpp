// files.hpp: what files ask the operating system for, beside their operations (detail/file_request.hpp).
// SPDX-License-Identifier: MIT
//
// None of it waits for a disk.
#pragma once

#include <cstddef>
#include <tandem/io/file_status.hpp>
#include <tandem/io/open_options.hpp>

#include "platform/descriptor.hpp"

namespace tandem::inline v0::io::platform {

/// As the system's own open takes them; also for file_request::aim_at_path().
int open_flags(const open_options& options) noexcept;
/// The file has just been opened: from here on it blocks, as others expect of it.
void settle_opened(native_descriptor file, const open_options& options) noexcept;
/// Makes a foreign descriptor one like ours: not inherited across exec, and blocking.
///
/// @param is_direct  whether it goes past the page cache
/// @returns          whether it was done; if not: throw_last_error()
bool adopt_file(native_descriptor file, bool& is_direct) noexcept;

/// On a file system without a disk: a transfer waits for nothing, but knows no "do not wait".
bool has_no_disk(native_descriptor file) noexcept;
/// Of buffers, offsets and sizes; as the file system says, else 4096.
std::size_t direct_io_alignment_of(native_descriptor file) noexcept;
/// What the system remembers, without asking a disk or a server; 0: nothing.
std::size_t size_hint(native_descriptor file) noexcept;

/// Room for the answer to file_action::status, aligned to 8 bytes: file_status_awaiter has it.
inline constexpr std::size_t status_bytes = 256;
/// @param answer  such room, filled in
file_status status_from(const void* answer) noexcept;

}  // namespace tandem::inline v0::io::platform
