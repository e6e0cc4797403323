// other_end.hpp: the other descriptor of an operation that has two.
// SPDX-License-Identifier: MIT
//
// An operation belongs to one descriptor: its socket, or its file. What is moved between two of
// them keeps the other one here, in the awaiter; nobody waits for that one (protocol copy:
// io/src/copy/README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::detail {

/// Why nothing was moved, where that is neither an end nor a failure.
enum class obstacle : std::uint8_t {
  none,
  disk,    ///< the file is not in memory: whoever may wait has to read it
  system,  ///< there is no such call, or not for these two
};

/// What one part has brought.
struct moved_part {
  moved_part(std::size_t count, obstacle why) noexcept : bytes(count), met(why) {}
  std::size_t bytes;  ///< 0: the end, or there is an obstacle
  obstacle met;
};

struct other_end {
  other_end(native_descriptor other, std::uint64_t at, std::size_t most) noexcept
      : descriptor(other), offset(at), bytes(most) {}

  native_descriptor descriptor;
  std::uint64_t offset;           ///< of a file
  std::size_t bytes;              ///< at most so many
  bool is_in_memory = false;      ///< a file on a file system without a disk
  bool is_prepared = false;       ///< the socket has been told not to block
  obstacle why = obstacle::none;  ///< with an outcome of 0
};

}  // namespace tandem::inline v0::io::detail
