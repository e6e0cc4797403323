// temporary.hpp: files and directories that are gone when nobody needs them any more.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <string>
#include <tandem/config.hpp>
#include <tandem/io/directory.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/file.hpp>
#include <tandem/task.hpp>
#include <tandem/with_resource.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io {

/// Opens a new file, for reading and writing, that is gone as soon as it is closed: also if the
/// process is killed.
///
///     auto spill = co_await tandem::io::open_temporary_file();
///
/// @param folder   where its contents are to be; empty: the system's place for that (TMPDIR)
/// @returns        a file without a name; where the system or the file system has none such, one
///                 whose name is removed at once. (On Windows it goes with the last handle)
/// @throws         std::system_error naming the folder: no_such_file_or_directory,
///                 permission_denied, no_space_on_device, ...; operation_cancelled
/// @cancellation   may lose the race and return the file
/// @resumes_on     the caller's home
/// @cost           a ring entry, or two
/// @source         man page open(2): O_TMPFILE
TANDEM_IO_API task<file> open_temporary_file(std::string folder = {});

/// What with_temporary_directory() lends: a new directory, for its user alone.
class temporary_directory {
 public:
  /// Absolute, as it was made; also what error texts say.
  const std::string& path() const noexcept { return path_; }
  /// Open: for what is to be done relative to it. The directory is removed also if this one was
  /// moved away.
  directory& folder() noexcept { return folder_; }

  // Implementation
  temporary_directory(directory&& folder, std::string path) noexcept
      : folder_(std::move(folder)), path_(std::move(path)) {}

 private:
  directory folder_;
  std::string path_;
};

namespace detail {

TANDEM_IO_API task<temporary_directory> make_temporary_directory(std::string folder);
TANDEM_IO_API task<void> remove_temporary_directory(temporary_directory& made);

}  // namespace detail

/// Makes a directory, runs `use(directory)`, and removes it with all that is in it, however the use
/// has ended.
///
///     co_await io::with_temporary_directory([&](io::temporary_directory& scratch) {
///       return unpack(archive, scratch.path());
///     });
///
/// @param use      called with a temporary_directory&, returns a task
/// @param folder   where it is to be, relative to the current directory at the beginning; empty:
///                 the system's place for that (TMPDIR)
/// @param grace    after which the removal is stopped (reason deadline), and leaves the rest
/// @returns        a task with the value of the use
/// @throws         as with_resource(): what the use throws; std::system_error of making, removing
/// @cancellation   a stop of the caller reaches the use, not the removal
/// @resumes_on     the caller's home
/// @cost           as with_resource(), make_directory() and remove_tree()
template <class Use>
  requires std::invocable<std::decay_t<Use>&, temporary_directory&>
auto with_temporary_directory(Use&& use, std::string folder = {},
                              std::chrono::steady_clock::duration grace = default_grace) {
  static_assert(
      tandem::detail::safe_in_co_await<Use&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
      "or capture by reference");
  return with_resource(detail::make_temporary_directory(std::move(folder)), std::forward<Use>(use),
                       &detail::remove_temporary_directory, grace);
}

}  // namespace tandem::inline v0::io
