// file_status.hpp: what a file system knows of a file.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace tandem::inline v0::io {

enum class file_kind : std::uint8_t {
  regular,
  directory,
  symlink,
  block,
  character,
  fifo,
  socket,
  other
};

/// What file::status() yields, at about one moment.
///
///     const tandem::io::file_status found = co_await source.status();
///     const bool has_holes = found.allocated_bytes < found.size;
class file_status {
 public:
  file_status() noexcept = default;

  std::uint64_t size = 0;             ///< bytes
  std::uint64_t allocated_bytes = 0;  ///< on the disk: less than size if there are holes
  file_kind kind = file_kind::other;
  unsigned permissions = 0;  ///< as in open_options, with the set-id and sticky bits
  std::chrono::system_clock::time_point modified;  ///< its contents
  std::chrono::system_clock::time_point changed;   ///< anything of it, as permissions or names
  std::chrono::system_clock::time_point accessed;  ///< as far as the file system takes note
  /// Where the file system knows.
  std::optional<std::chrono::system_clock::time_point> created;
  std::uint32_t owner = 0;  ///< number of the user; on Windows 0, as the group
  std::uint32_t group = 0;
  std::uint64_t device = 0;  ///< device and inode together name the file
  std::uint64_t inode = 0;
  std::uint32_t links = 0;
};

}  // namespace tandem::inline v0::io
