// open_beneath.cpp: NtCreateFile() relative to a folder, component by component.
// SPDX-License-Identifier: MIT
//
// Windows has no call that keeps a path beneath a folder and follows links. So each component is
// opened relative to the handle of the one before, as what it is (FILE_OPEN_REPARSE_POINT): what
// turns out to be a reparse point (a symbolic link, a junction) is refused with ELOOP, whereas
// other systems follow those that stay beneath. ".." goes back to a handle that the walk has come
// through. So what is exchanged behind our back changes what is found, and never where.
#include "platform/open_beneath.hpp"

#include <winternl.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/windows/file_calls.hpp"
#include "platform/windows/native_calls.hpp"
#include "platform/windows/owned_handle.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// How a component is opened.
struct manner {
  ACCESS_MASK access;
  ULONG attributes;
  ULONG disposition;
  ULONG options;
};

constexpr manner as_folder{FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
                           FILE_ATTRIBUTE_NORMAL, FILE_OPEN,
                           FILE_DIRECTORY_FILE | FILE_SYNCHRONOUS_IO_NONALERT};

manner manner_of(int flags, unsigned permissions) noexcept {
  manner made{SYNCHRONIZE | FILE_READ_ATTRIBUTES, FILE_ATTRIBUTE_NORMAL, FILE_OPEN, 0};
  if ((flags & opens_to_read) != 0) made.access |= FILE_GENERIC_READ;
  if ((flags & opens_to_write) != 0) {
    // GENERIC_WRITE, since the right to append, by its own name, is refused to what goes past the
    // cache.
    made.access |= (flags & appends) != 0 ? FILE_GENERIC_WRITE & ~DWORD{FILE_WRITE_DATA}
                                          : DWORD{GENERIC_WRITE};
  }
  const bool makes = (flags & creates) != 0;
  const bool cuts = (flags & truncates) != 0;
  made.disposition =
      makes ? (cuts ? FILE_OVERWRITE_IF : FILE_OPEN_IF) : (cuts ? FILE_OVERWRITE : FILE_OPEN);
  if (makes && (flags & is_exclusive) != 0) made.disposition = FILE_CREATE;
  if (makes && (permissions & 0222U) == 0) made.attributes = FILE_ATTRIBUTE_READONLY;
  if ((flags & is_direct_flag) != 0) made.options |= FILE_NO_INTERMEDIATE_BUFFERING;
  if (makes || cuts || (flags & opens_to_write) != 0) made.options |= FILE_NON_DIRECTORY_FILE;
  return made;
}

/// @returns  0 or a negative number
std::int32_t open_at(HANDLE folder, std::wstring& name, const manner& how, HANDLE& made) noexcept {
  // More than its size has bits for would name something else.
  constexpr std::size_t most = USHRT_MAX / sizeof(wchar_t);
  if (name.size() > most) return -number_of(ERROR_FILENAME_EXCED_RANGE);
  UNICODE_STRING text{};
  text.Buffer = name.data();
  text.Length = text.MaximumLength = static_cast<USHORT>(name.size() * sizeof(wchar_t));
  OBJECT_ATTRIBUTES what{};
  what.Length = sizeof what;
  what.RootDirectory = folder;
  what.ObjectName = &text;
  what.Attributes = OBJ_CASE_INSENSITIVE;
  IO_STATUS_BLOCK answer{};
  constexpr ULONG everybody = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const NTSTATUS status = ::NtCreateFile(
      &made, how.access, &what, &answer, nullptr, how.attributes, everybody, how.disposition,
      how.options | FILE_OPEN_REPARSE_POINT | FILE_OPEN_FOR_BACKUP_INTENT, nullptr, 0);
  return status >= 0 ? 0 : -number_of(::RtlNtStatusToDosError(status));
}

bool is_folder(HANDLE opened) noexcept {
  BY_HANDLE_FILE_INFORMATION about{};
  return ::GetFileInformationByHandle(opened, &about) != 0 &&
         (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

bool is_link(HANDLE opened) noexcept {
  BY_HANDLE_FILE_INFORMATION about{};
  return ::GetFileInformationByHandle(opened, &about) != 0 &&
         (about.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

std::int32_t walk(HANDLE root, std::wstring_view path, const manner& last) {
  // A drive, a stream of a file, or a root: nothing of a relative path has these.
  if (path.find(L':') != std::wstring_view::npos || path.starts_with(L'/') ||
      path.starts_with(L'\\')) {
    return -EXDEV;
  }
  std::vector<owned_handle> folders;  // that the walk has come through, but for the root
  const auto here = [&] { return folders.empty() ? root : folders.back().get(); };
  while (true) {
    const std::size_t size = std::min(path.find_first_of(L"/\\"), path.size());
    std::wstring name(path.substr(0, size));
    const std::size_t next = std::min(path.find_first_not_of(L"/\\", size), path.size());
    const bool is_last = next == path.size();
    const bool has_slash = size != path.size();  // a slash follows
    path.remove_prefix(next);
    if (name == L"..") {
      if (folders.empty()) return -EXDEV;
      folders.pop_back();
      if (is_last) name = L".";
    }
    if (is_last && (name == L"." || name == L"..")) name.clear();  // the folder itself, anew
    if (!is_last && (name == L"." || name == L"..")) continue;
    manner how = is_last ? last : as_folder;
    if (is_last && has_slash) how.options |= FILE_DIRECTORY_FILE;
    HANDLE made = nullptr;
    if (const std::int32_t failure = open_at(here(), name, how, made); failure < 0) return failure;
    owned_handle opened(made);
    if (is_link(made)) return -ELOOP;
    if (is_last) return outcome_of(descriptor_of(opened.release()));
    folders.push_back(std::move(opened));
  }
}

}  // namespace

std::int32_t open_beneath(native_descriptor root, const char* path, int flags,
                          unsigned permissions) noexcept {
  try {
    std::wstring wide;
    if (!to_wide(path, wide) || wide.empty()) return -ENOENT;
    const std::int32_t outcome = walk(handle_of(root), wide, manner_of(flags, permissions));
    // What is relative to no folder fails in many ways.
    return outcome < 0 && !is_folder(handle_of(root)) ? -ENOTDIR : outcome;
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace tandem::inline v0::io::platform
