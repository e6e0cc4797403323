// two_ends.hpp: moving bytes between two descriptors without a buffer of ours.
// SPDX-License-Identifier: MIT
//
// Where the system cannot do it, each of these says so (obstacle::system, or ENOTSUP), and whoever
// asked moves the bytes by a buffer.
//
// A failure is an outcome: a negative error number. Nothing is thrown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/detail/other_end.hpp>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::platform {

/// One attempt of an operation whose buffer is an other_end, as in attempt.hpp: none of them waits
/// for its socket, and no signal comes of it.
/// @returns  bytes, 0 at the end or with an obstacle, would_block, or an error number, negative
std::int32_t send_file(detail::operation& operation) noexcept;
/// pre: the pipe is empty, else nothing may be asked for: EINVAL
std::int32_t fill_pipe(detail::operation& operation) noexcept;
/// pre: the pipe holds what is asked for
std::int32_t drain_pipe(detail::operation& operation) noexcept;

/// Copies a part of a file into another one, within the system; it waits for the disk.
/// @returns  bytes, 0 at the end or with an obstacle, or an error number, negative
std::int32_t copy_part(native_descriptor from, std::uint64_t offset, std::size_t bytes,
                       detail::other_end& to) noexcept;
/// Likewise between a file and a pipe, as fill_pipe() and drain_pipe().
std::int32_t splice_file(bool fills, native_descriptor file, std::uint64_t offset,
                         const detail::other_end& pipe) noexcept;

/// What goes through a pipe without being touched by the program.
struct pipe_ends {
  native_descriptor reading = no_descriptor;
  native_descriptor writing = no_descriptor;
  std::size_t capacity = 0;
};
/// @param capacity  asked for; the system may give less
/// @returns         0 or an error number, negative
std::int32_t open_splice_pipe(std::size_t capacity, pipe_ends& made) noexcept;

/// Resets a TCP connection whose descriptor stays open: what it has not sent yet is dropped, and
/// with it the memory that it was to be sent from.
void reset_connection(native_descriptor socket) noexcept;

}  // namespace tandem::inline v0::io::platform
