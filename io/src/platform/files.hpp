// files.hpp: what files ask the operating system for, beside their operations (detail/file_request.hpp).
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits for a disk. What may fail answers with a std::error_code; the others
// are hints, or have a usual answer for what the system does not tell. Nothing is thrown, and no
// caller looks at errno.
//
// pre of all that take a file: it is open, and stays so during the call.
#pragma once

#include <cstddef>
#include <system_error>
#include <tandem/io/file_status.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/open_options.hpp>

namespace tandem::inline v0::io::platform {

/// As the system's own open takes them; also for file_request::aim_at_path().
int open_flags(const open_options& options) noexcept;
/// pre: the file has just been opened with open_flags(options); no operation is under way on it
/// post: it blocks, as others expect of it
void settle_opened(native_descriptor file, const open_options& options) noexcept;
/// Makes a foreign descriptor one like ours. Any number will do; no operation is under way on it.
///
/// @param is_direct  set if there was no error: whether it goes past the page cache
/// post: it is not inherited across exec, and blocks
[[nodiscard]] std::error_code adopt_file(native_descriptor file, bool& is_direct) noexcept;

/// On a file system without a disk: a transfer waits for nothing, but knows no "do not wait".
bool has_no_disk(native_descriptor file) noexcept;
/// Of buffers, offsets and sizes; as the file system says, else 4096.
std::size_t direct_io_alignment_of(native_descriptor file) noexcept;
/// What the system remembers, without asking a disk or a server; 0: nothing.
std::size_t size_hint(native_descriptor file) noexcept;

/// Room for the answer to file_action::status, aligned to 8 bytes: file_status_awaiter has it.
inline constexpr std::size_t status_bytes = 256;
/// pre: `answer` is such room, and that operation has filled it in
file_status status_from(const void* answer) noexcept;

}  // namespace tandem::inline v0::io::platform
