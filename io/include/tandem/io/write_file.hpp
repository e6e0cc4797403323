// write_file.hpp: replaces the whole contents of a file, all or nothing.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/export.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::io {

/// A value for write_file().
class write_options {
 public:
  constexpr write_options() noexcept = default;

  /// Whether file and folder are on the disk when the await returns. Without it a machine that
  /// loses its power may find the old contents; a process that ends does not matter either way.
  bool durable = false;
  unsigned permissions = 0666;  ///< of a new file, less the process's umask
};

/// Makes `bytes` the contents of a file: whoever opens it finds the old contents or the new ones,
/// never a part of them.
///
///     co_await tandem::io::write_file("settings.json", text);
///
/// They are written to a new file beside it (".tandem-...tmp"), which then takes its name. The
/// permissions of a file that is there stay, and its owner and group where the process may set them
/// (where not even the group, the new one gets no more rights than everybody has); access lists and
/// further names (hard links) do not. A symbolic link is followed; what is no regular file is
/// refused.
///
/// @param bytes         alive until the await returns
/// @throws              std::system_error naming the path and the step that failed:
///                      no_space_on_device, permission_denied, is_a_directory, ...;
///                      operation_cancelled; as blocking()
/// @cancellation        until the new file takes the name; then the old contents stay. On failure,
///                      too, and nothing is left beside it. (Only a process that is killed leaves
///                      its new file.)
/// @thread_safety       any number at a time: the last one to take the name wins
/// @resumes_on          the caller's home
/// @cost                one call on a thread of blocking()
/// @source              man pages rename(2), fsync(2)
TANDEM_IO_API task<void> write_file(std::string path, std::span<const std::byte> bytes,
                                    write_options options = {});
TANDEM_IO_API task<void> write_file(std::string path, std::string_view text,
                                    write_options options = {});

}  // namespace tandem::inline v0::io
