// directory.hpp: a directory that is open: what is done with paths relative to it.
// SPDX-License-Identifier: MIT
//
// As a file it belongs to no thread. A path relative to a directory that is open leads to the same
// place whatever that directory is called meanwhile, and wherever the process's current one is.
#pragma once

#include <cstdint>
#include <string>
#include <tandem/io/detail/file_handle.hpp>
#include <tandem/io/directory_reader.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/open_options.hpp>
#include <tandem/io/path_awaiters.hpp>
#include <tandem/io/path_options.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

class directory;

/// Awaiter of directory::open() and open_directory().
class [[nodiscard]] TANDEM_IO_API directory_open_awaiter : public detail::file_awaiter {
 public:
  directory_open_awaiter(detail::file_handle* folder, std::string path, symlinks links) noexcept
      : file_awaiter(detail::file_action::open, folder, nullptr, 0, 0),
        path_(std::move(path)),
        links_(links) {}

  bool await_ready() noexcept;
  directory await_resume();
  result<directory> await_resume_result();

 private:
  directory opened();

  std::string path_;
  symlinks links_;
};

/// A descriptor of a directory.
///
///     auto inbox = co_await tandem::io::directory::open("/var/inbox");
///     co_await inbox.make_directory("done");
///     co_await inbox.rename("letter", "done/letter", tandem::io::if_exists::fail);
///
/// Paths are relative to it; an absolute one leads where it says. Links on the way of a path are
/// followed, also out of the directory: for paths that others have chosen there is open_beneath().
/// What the functions of file_operations.hpp do with the process's current directory, these do with
/// this one: each has its errors, cancellation and cost from there. On Windows the directory's
/// current path is put before the relative one, so there it must not be renamed meanwhile.
///
/// Closing or moving one with an operation in flight, also one that leads to it from another
/// directory, is a broken precondition, and aborts with a message.
///
/// @thread_safety  any number of calls at a time, from any tasks; moving and closing by its owner
class TANDEM_IO_API directory {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  directory() noexcept = default;

  /// @param links    keep: what is a symbolic link is refused
  /// @throws         std::system_error naming the path: no_such_file_or_directory, not_a_directory,
  ///                 too_many_symbolic_link_levels, permission_denied, ...; operation_cancelled
  /// @cancellation   may lose the race and return the directory
  /// @resumes_on     the caller's home
  /// @cost           one ring entry
  static directory_open_awaiter open(std::string path, symlinks links = symlinks::follow) {
    return {nullptr, std::move(path), links};
  }
  /// As open(), relative to this one.
  directory_open_awaiter open_directory(std::string path, symlinks links = symlinks::follow) {
    return {&handle_, std::move(path), links};
  }
  /// As file::open(), relative to this one.
  file_open_awaiter open_file(std::string path, const open_options& options = {}) {
    return {detail::file_action::open, &handle_, std::move(path), options};
  }
  /// As file::open_beneath(): what leads out of the directory is refused.
  file_open_awaiter open_beneath(std::string path, const open_options& options = {}) {
    return {detail::file_action::open_beneath, &handle_, std::move(path), options};
  }

  bool is_open() const noexcept { return handle_.is_open(); }
  /// As open() was told.
  const std::string& path() const noexcept { return handle_.path(); }
  native_descriptor native_handle() const noexcept { return handle_.descriptor(); }
  void close() noexcept { handle_.close(); }

  /// Its entries; a reader of its own each time. It stays open until the first next() has returned.
  directory_reader list() { return {&handle_, ".", symlinks::follow}; }
  /// As list_directory(), relative to this one.
  directory_reader list(std::string path, symlinks links = symlinks::follow) {
    return {&handle_, std::move(path), links};
  }
  /// As status_of().
  path_status_awaiter status(std::string path, symlinks links = symlinks::follow) {
    return {&handle_, std::move(path), links};
  }
  /// As make_directory().
  path_command_awaiter make_directory(std::string path, unsigned permissions = 0777) {
    return {detail::file_action::make_directory, &handle_, std::move(path), 0, permissions};
  }
  /// As make_directories().
  task<void> make_directories(std::string path, unsigned permissions = 0777);
  /// As remove_file().
  path_command_awaiter remove_file(std::string path) {
    return {detail::file_action::remove, &handle_, std::move(path)};
  }
  /// As remove_directory().
  path_command_awaiter remove_directory(std::string path) {
    return {detail::file_action::remove, &handle_, std::move(path), detail::names_directory};
  }
  /// As remove_tree().
  remove_tree_awaiter remove_tree(std::string path) { return {&handle_, std::move(path)}; }
  /// As rename_file(), within this one.
  path_pair_awaiter rename(std::string from, std::string to,
                           if_exists existing = if_exists::replace) {
    return rename(std::move(from), *this, std::move(to), existing);
  }
  /// Likewise, to another directory, which stays open until the await returns.
  path_pair_awaiter rename(std::string from, directory& target, std::string to,
                           if_exists existing = if_exists::replace) {
    return {detail::file_action::rename, &handle_, std::move(from), &target.handle_, std::move(to),
            flags_of(existing)};
  }
  /// As make_link(), within this one.
  path_pair_awaiter make_link(std::string existing, std::string path) {
    return make_link(std::move(existing), *this, std::move(path));
  }
  /// Likewise, in another directory, which stays open until the await returns.
  path_pair_awaiter make_link(std::string existing, directory& target, std::string path) {
    return {detail::file_action::link, &handle_, std::move(existing), &target.handle_,
            std::move(path)};
  }
  /// As make_symbolic_link().
  path_pair_awaiter make_symbolic_link(std::string text, std::string path) {
    return {detail::file_action::symlink, &handle_, std::move(path), nullptr, std::move(text)};
  }
  /// As read_link().
  read_link_awaiter read_link(std::string path) { return {&handle_, std::move(path)}; }
  /// As tandem::io::set_permissions().
  path_command_awaiter set_permissions(std::string path, unsigned permissions) {
    return {detail::file_action::set_permissions_at, &handle_, std::move(path), 0, permissions};
  }
  /// Ends when the names in it are on the disk, as they are now: a rename is only safe from a loss
  /// of power then.
  ///
  /// @throws         std::system_error: io_error, ...; on Windows operation_not_permitted
  /// @cancellation   what has begun is waited for, and its result counts; else it is not begun
  /// @resumes_on     the caller's home
  file_command_awaiter sync() noexcept { return {detail::file_action::sync, handle_, 0}; }

  // Implementation
  explicit directory(detail::file_handle handle) noexcept : handle_(std::move(handle)) {}
  detail::file_handle& handle() noexcept { return handle_; }
  static int flags_of(if_exists existing) noexcept {
    return existing == if_exists::fail ? detail::replaces_nothing : 0;
  }

 private:
  detail::file_handle handle_;
};

}  // namespace tandem::inline v0::io
