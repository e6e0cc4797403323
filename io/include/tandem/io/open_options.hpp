// open_options.hpp: how a file is opened.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tandem::inline v0::io {

enum class open_mode : std::uint8_t { read, write, read_write };

/// A value for file::open(). No descriptor is inherited across exec.
///
///     auto log = co_await tandem::io::file::open("log", tandem::io::open_options::append_to());
class open_options {
 public:
  constexpr open_options(
      open_mode opened_for = open_mode::read) noexcept  // NOLINT: a mode is enough
      : mode(opened_for) {}

  /// For a new file, or one whose contents go.
  static constexpr open_options overwrite() noexcept {
    open_options made(open_mode::write);
    made.create = made.truncate = true;
    return made;
  }
  /// For append(), to a new file or to one that is there.
  static constexpr open_options append_to() noexcept {
    open_options made(open_mode::write);
    made.create = made.append = true;
    return made;
  }

  open_mode mode;
  bool create = false;     ///< if it is not there
  bool exclusive = false;  ///< with create only: fails with file_exists if it is there
  bool truncate = false;   ///< its contents go; not with mode read
  bool append = false;     ///< every write goes to the end, whatever its offset
  /// Past the page cache: buffers, offsets and sizes are multiples of file::direct_io_alignment(),
  /// or a transfer fails with invalid_argument.
  bool direct = false;
  /// `path` is a folder, and the file in it gets no name: it is gone when it is closed. For
  /// open_temporary_file(), which does it otherwise where the system, or the file system, cannot
  /// (operation_not_supported, is_a_directory). Only with mode write or read_write.
  bool unnamed = false;
  unsigned permissions = 0666;  ///< of a new file, less the process's umask
};

}  // namespace tandem::inline v0::io
