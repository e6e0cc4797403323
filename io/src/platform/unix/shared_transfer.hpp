// shared_transfer.hpp: bytes to and from a descriptor whose mode is not ours, without waiting.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

/// They answer as read() and write() do, with EAGAIN where they would wait. No SIGPIPE comes of
/// them.
ssize_t read_shared(int descriptor, void* data, std::size_t bytes) noexcept;
ssize_t write_shared(int descriptor, const void* data, std::size_t bytes) noexcept;

// What Linux has, and other systems have not: in their folders.

/// One call that says that it must not wait. errno is EOPNOTSUPP where it cannot be said so.
ssize_t transfer_at_once(bool reads, int descriptor, void* data, std::size_t bytes) noexcept;
/// A description of its own of the pipe or terminal that `descriptor` refers to.
///
/// @param flags  as open() takes them
/// @returns      -1 if there is none to be had
int open_anew(int descriptor, int flags) noexcept;
/// Whether a device has no way to be waited for, as /dev/null has none: its calls never wait then.
/// @returns  too_many_files_open, ..., where it cannot be asked
result<bool> is_always_ready(int device) noexcept;

}  // namespace tandem::inline v0::io::platform
