// file_operations.hpp: what is done with paths: directories, names, links, permissions.
// SPDX-License-Identifier: MIT
//
// Paths are UTF-8, or whatever bytes the system takes, and relative to the process's current
// directory; directory.hpp has the same relative to one that is open. None of it opens a file.
#pragma once

#include <string>
#include <tandem/io/directory.hpp>
#include <tandem/io/directory_reader.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/path_awaiters.hpp>
#include <tandem/io/path_options.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// Lists a directory (directory_reader.hpp).
inline directory_reader list_directory(std::string path, symlinks links = symlinks::follow) {
  return {nullptr, std::move(path), links};
}

/// Size, kind, permissions, times, owner.
///
///     const auto about = co_await tandem::io::status_of("notes", tandem::io::symlinks::keep);
///
/// @throws         std::system_error naming the path: no_such_file_or_directory,
///                 permission_denied, ...; operation_cancelled
/// @cancellation   what has begun is waited for, and its result counts; else it is not begun
/// @resumes_on     the caller's home
/// @cost           one ring entry
/// @source         man page statx(2)
inline path_status_awaiter status_of(std::string path, symlinks links = symlinks::follow) {
  return {nullptr, std::move(path), links};
}

/// Makes a directory in one that is there.
///
/// @param permissions  less the process's umask; on Windows they say nothing
/// @throws         std::system_error naming the path: file_exists, no_such_file_or_directory,
///                 no_space_on_device, read_only_file_system, ...; operation_cancelled
/// @cancellation   as status_of()
/// @resumes_on     the caller's home
/// @cost           one ring entry
inline path_command_awaiter make_directory(std::string path, unsigned permissions = 0777) {
  return {detail::file_action::make_directory, nullptr, std::move(path), 0, permissions};
}

/// Makes a directory, and those above it that are missing. It is fine if all are there, or if
/// others make some of them at the same time.
///
///     co_await tandem::io::make_directories("cache/2026/11");
///
/// @throws         as make_directory(); not_a_directory if there is something else of that name
/// @cancellation   between two of them: those that were made stay
/// @resumes_on     the caller's home
/// @cost           a ring entry for each that is made, and for the last one that is there
TANDEM_IO_API task<void> make_directories(std::string path, unsigned permissions = 0777);

/// Removes a name of a file, or a symbolic link itself.
///
/// @throws         std::system_error naming the path: no_such_file_or_directory, is_a_directory,
///                 operation_not_permitted, ...; operation_cancelled
/// @cancellation   as status_of()
/// @resumes_on     the caller's home
/// @cost           one ring entry
inline path_command_awaiter remove_file(std::string path) {
  return {detail::file_action::remove, nullptr, std::move(path)};
}

/// Removes a directory that is empty.
///
/// @throws         std::system_error naming the path: directory_not_empty, not_a_directory, ...;
///                 operation_cancelled
/// @cancellation   as status_of()
/// @resumes_on     the caller's home
/// @cost           one ring entry
inline path_command_awaiter remove_directory(std::string path) {
  return {detail::file_action::remove, nullptr, std::move(path), detail::names_directory};
}

/// Removes whatever has that name, of a directory also all that is in it. Symbolic links are
/// removed, never followed: whoever exchanges directories and links meanwhile changes what is
/// removed of the tree, but nothing outside of it is touched (where the path itself leads is
/// decided once). On Windows links are not followed either, but an exchange may go unnoticed.
///
///     co_await tandem::io::remove_tree("build");
///
/// @returns        how many entries were removed; 0 if there was nothing of that name
/// @throws         std::system_error naming the path and what could not be removed:
///                 permission_denied, directory_not_empty (others go on putting things into it),
///                 device_or_resource_busy (the tree was moved elsewhere meanwhile);
///                 invalid_argument for ".", ".." and "/"; operation_cancelled
/// @cancellation   between two entries; what was removed before, also by a failure, is gone
/// @resumes_on     the caller's home
/// @cost           one call on a thread of blocking(): directories are read there anyway; up to 64
///                 descriptors, however deep the tree is
inline remove_tree_awaiter remove_tree(std::string path) { return {nullptr, std::move(path)}; }

/// Gives a file or a directory another name, in one step: others see the old state or the new one.
///
///     co_await tandem::io::rename_file("report.new", "report", tandem::io::if_exists::fail);
///
/// @throws         std::system_error naming both: no_such_file_or_directory, file_exists,
///                 directory_not_empty, is_a_directory, cross_device_link (a copy would be needed),
///                 ...; for if_exists::fail invalid_argument where the file system cannot, and
///                 operation_not_supported for directories where the system cannot (other than
///                 Linux and Windows; there a file has both names for a moment, and
///                 what others give the old name to in that moment keeps it);
///                 operation_cancelled
/// @cancellation   as status_of()
/// @resumes_on     the caller's home
/// @cost           one ring entry
/// @source         man page renameat2(2)
inline path_pair_awaiter rename_file(std::string from, std::string to,
                                     if_exists existing = if_exists::replace) {
  return {detail::file_action::rename,  nullptr, std::move(from), nullptr, std::move(to),
          directory::flags_of(existing)};
}

/// Gives a file one more name (a hard link). A symbolic link is not followed.
///
/// @throws         std::system_error naming both: file_exists, too_many_links, cross_device_link,
///                 operation_not_permitted (a directory), ...; operation_cancelled
/// @cancellation   as status_of()
/// @resumes_on     the caller's home
/// @cost           one ring entry
inline path_pair_awaiter make_link(std::string existing, std::string path) {
  return {detail::file_action::link, nullptr, std::move(existing), nullptr, std::move(path)};
}

/// Makes a symbolic link at `path`.
///
/// @param text     where it leads to, relative to where it is; need not be there
/// @throws         std::system_error naming path and text: file_exists, ...; on Windows
///                 permission_denied where that needs a right; operation_cancelled
/// @cancellation   as status_of()
/// @resumes_on     the caller's home
/// @cost           one ring entry
inline path_pair_awaiter make_symbolic_link(std::string text, std::string path) {
  return {detail::file_action::symlink, nullptr, std::move(path), nullptr, std::move(text)};
}

/// Where a symbolic link leads to, as it was made.
///
/// @throws         std::system_error naming the path: invalid_argument (it is no link), ...;
///                 operation_not_supported on Windows; operation_cancelled
/// @cancellation   as status_of()
/// @resumes_on     the caller's home
/// @cost           a call on a thread of blocking()
inline read_link_awaiter read_link(std::string path) { return {nullptr, std::move(path)}; }

/// Sets who may do what with a file. Symbolic links are followed.
///
/// @param permissions  as in open_options, with the set-id and sticky bits; no umask is taken off.
///                     On Windows only whether anybody may write
/// @throws         std::system_error naming the path: operation_not_permitted, ...;
///                 operation_cancelled
/// @cancellation   as status_of()
/// @resumes_on     the caller's home
/// @cost           a call on a thread of blocking()
inline path_command_awaiter set_permissions(std::string path, unsigned permissions) {
  return {detail::file_action::set_permissions_at, nullptr, std::move(path), 0, permissions};
}

}  // namespace tandem::inline v0::io
