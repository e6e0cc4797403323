// directories.hpp: actions on paths, entries of directories, trees that are removed.
// SPDX-License-Identifier: MIT
//
// All of it waits for the disk, so it is for threads of blocking(). A failure is an outcome, as
// files tell it: a negative error number. Nothing is thrown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tandem/io/detail/entry_list.hpp>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/file_status.hpp>

namespace tandem::inline v0::io::platform {

/// Any action of a path but opening.
///
/// pre: what the request points to stays as it is; a stop is asked for between the entries of trees
std::int32_t act_on_path(detail::file_request& request) noexcept;

/// file_action::open, as open_flags() or directory_open_flags() say.
std::int32_t open_at_path(native_descriptor folder, const char* path, int flags,
                          unsigned permissions) noexcept;
/// Opens a directory, to list it and to open what is in it.
///
/// @param folder  none: the current one
/// @param flags   detail::follows_links, or what is a link is refused (ELOOP or ENOTDIR)
/// @returns       a descriptor, the caller's
std::int32_t open_listing(native_descriptor folder, const char* path, int flags) noexcept;
/// Adds some of the entries that it has not told yet. Each has its kind, also where the file system
/// tells none.
///
/// pre: `directory` was opened by open_listing(); nobody else lists by that descriptor
/// @returns  1: there may be more; 0: it has ended
std::int32_t read_entries(native_descriptor directory, detail::entry_list& entries) noexcept;
/// file_action::list: opens the listing's directory if that was not done yet, and finds some of its
/// entries. @returns  0
std::int32_t read_listing(detail::file_request& request) noexcept;
/// Of file_action::remove_tree: without slashes at its end, behind which a link would be followed.
/// @returns  nothing for what has no name that it could lose: ".", "..", a root
std::string_view tree_path(std::string_view path) noexcept;
/// Of an entry, or with detail::follows_links of what it leads to. @returns 0
std::int32_t entry_status(native_descriptor folder, const char* path, int flags,
                          file_status& answer) noexcept;

/// For what is to go again. @throws  std::bad_alloc
std::string usual_temporary_folder();
/// A relative path, from where the process's current directory is now; any other as it is, and a
/// relative one, too, if nobody knows where that is. @throws  std::bad_alloc
std::string absolute_path(std::string path);
/// Whether a path has that between two names.
bool is_separator(char each) noexcept;
/// Whether a folder's own path is not to be put before it.
bool is_absolute(const std::string& path) noexcept;
/// Flags of open(2) for file_request::aim_at_path(): a directory as open_listing() opens it.
int directory_open_flags(bool follows_link) noexcept;

}  // namespace tandem::inline v0::io::platform
