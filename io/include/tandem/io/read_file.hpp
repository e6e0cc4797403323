// read_file.hpp: the whole contents of a file.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <tandem/io/export.hpp>
#include <tandem/task.hpp>
#include <vector>

namespace tandem::inline v0::io {

/// All bytes of a file.
///
///     const std::string text = co_await tandem::io::read_file("/proc/self/status");
///
/// Its size is only taken for a hint: a file that says 0 (in /proc), grows or shrinks meanwhile is
/// read until its end as it is met.
///
/// @throws         std::system_error naming the path: no_such_file_or_directory, is_a_directory,
///                 ...; operation_cancelled; std::bad_alloc, std::length_error: it is too large for
///                 memory
/// @cancellation   ends it, after the transfer that has begun
/// @resumes_on     the caller's home
/// @cost           a ring entry to open it; what the page cache has is read in place
TANDEM_IO_API task<std::string> read_file(std::string path);
/// As above, as bytes.
TANDEM_IO_API task<std::vector<std::byte>> read_file_bytes(std::string path);

}  // namespace tandem::inline v0::io
