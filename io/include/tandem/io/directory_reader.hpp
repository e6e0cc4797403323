// directory_reader.hpp: the entries of a directory, one after the other.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tandem/io/detail/entry_list.hpp>
#include <tandem/io/detail/path_awaiter.hpp>
#include <tandem/io/directory_entry.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/path_options.hpp>
#include <tandem/result.hpp>
#include <utility>

namespace tandem::inline v0::io {

class directory_reader;

/// Awaiter of directory_reader::next().
class [[nodiscard]] TANDEM_IO_API directory_read_awaiter : public detail::path_awaiter {
 public:
  explicit directory_read_awaiter(directory_reader& reader);

  bool await_ready() noexcept;
  std::optional<directory_entry> await_resume();
  result<std::optional<directory_entry>> await_resume_result();

 private:
  directory_reader* reader_;
  bool is_there_ = false;  // what the last call has found is not used up
};

/// Lists a directory. It is opened by the first next(), and closed with the reader.
///
///     auto reader = tandem::io::list_directory("/srv/files");
///     while (auto entry = co_await reader.next()) print(entry->name);
///
/// What is added or removed while it is read may be listed or not; all else is listed once, in no
/// order.
///
/// @thread_safety  one task at a time; it may be moved between two calls
class TANDEM_IO_API directory_reader {
 public:
  /// @returns        the next entry; nothing at the end
  /// @throws         std::system_error naming the path: no_such_file_or_directory, not_a_directory,
  ///                 permission_denied, too_many_files_open, ...; operation_cancelled
  /// @cancellation   what has begun is waited for; no entry is lost
  /// @resumes_on     the caller's home
  /// @cost           a call on a thread of blocking() for some two thousand entries: the kernel has
  ///                 no other way. All others are there at once
  /// @source         man page getdents(2)
  directory_read_awaiter next() { return directory_read_awaiter(*this); }

  // Implementation
  /// Never to be called: whoever awaits the reader itself is told what to write.
  template <class Never = void>
  directory_read_awaiter operator co_await() {
    static_assert(sizeof(Never*) == 0, "a directory_reader is a stream: co_await reader.next()");
    return next();
  }
  /// @param folder  null: the current one; stays open until the first next() has returned
  directory_reader(detail::file_handle* folder, std::string path, symlinks links) noexcept
      : folder_(folder), path_(std::move(path)), links_(links) {}

 private:
  friend class directory_read_awaiter;

  std::optional<directory_entry> take();

  detail::file_handle* folder_;
  std::string path_;
  symlinks links_;
  detail::listing found_;
  std::size_t next_ = 0;  // of the entries that were found
};

}  // namespace tandem::inline v0::io
