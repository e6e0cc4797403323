// plain_pipes.hpp: pipes without tandem, for the other end of what is tested, in one place for each system.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::test {

/// The reading end, and the writing end: as pipe_reader and pipe_writer take them over, and children do not inherit them.
std::array<io::native_descriptor, 2> new_plain_pipe();
void close_plain_pipe(io::native_descriptor end);

// These two wait. @returns bytes; 0 or less at the end
std::ptrdiff_t read_plain_pipe(io::native_descriptor reader, std::span<std::byte> room);
std::ptrdiff_t write_plain_pipe(io::native_descriptor writer, std::span<const std::byte> bytes);

/// Until it takes no more. pre: it does not wait (pipe_writer has it)
void fill_plain_pipe(io::native_descriptor writer);

}  // namespace tandem::test
