// paths.cpp: the calls of Windows for paths, directories and trees.
// SPDX-License-Identifier: MIT
//
// No call but NtCreateFile() takes a path relative to a handle, so the path of an open directory is
// put before the relative one: it has to stay where it is meanwhile.
#include <array>
#include <cerrno>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <tandem/stop.hpp>
#include <utility>
#include <vector>

#include "platform/directories.hpp"
#include "platform/files.hpp"
#include "platform/windows/file_answer.hpp"
#include "platform/windows/file_calls.hpp"
#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

constexpr DWORD shared_by_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

std::int32_t outcome_of(BOOL answer) noexcept { return answer != 0 ? 0 : -last_number(); }

bool is_absolute_wide(std::wstring_view path) noexcept {
  const bool has_root = path.starts_with(L'\\') || path.starts_with(L'/');
  return has_root || (path.size() > 1 && path[1] == L':');
}

/// @returns  0, and the path in `whole`; or an error number, negative
std::int32_t whole_path(native_descriptor folder, const char* path, std::wstring& whole) {
  std::wstring wide;
  if (!to_wide(path, wide) || wide.empty()) return -number_of(ERROR_PATH_NOT_FOUND);
  if (detail::is_descriptor(folder) && !is_absolute_wide(wide)) {
    const HANDLE handle = handle_of(folder);
    whole.resize(::GetFinalPathNameByHandleW(handle, nullptr, 0, 0) + std::size_t{1});
    const DWORD size =
        ::GetFinalPathNameByHandleW(handle, whole.data(), static_cast<DWORD>(whole.size()), 0);
    if (size == 0 || size >= whole.size()) return -last_number();
    whole.resize(size);
    if (wide == L".") return 0;
    // What such a path names is not looked into any more.
    for (wchar_t& each : wide) {
      if (each == L'/') each = L'\\';
    }
    (whole += L'\\') += wide;
    return 0;
  }
  whole = std::move(wide);
  lift_limit(whole);
  return 0;
}

HANDLE open_at(const std::wstring& path, DWORD access, bool follows_link) noexcept {
  const DWORD links = follows_link ? 0 : FILE_FLAG_OPEN_REPARSE_POINT;
  return ::CreateFileW(path.c_str(), access, shared_by_all, nullptr, OPEN_EXISTING,
                       FILE_FLAG_BACKUP_SEMANTICS | links, nullptr);
}

std::int32_t status_at(const std::wstring& path, int flags, void* answer) noexcept {
  const owned_handle opened(
      open_at(path, FILE_READ_ATTRIBUTES, (flags & detail::follows_links) != 0));
  if (!opened.is_open()) return -last_number();
  return ask_status(descriptor_of(opened.get()), answer);
}

std::int32_t remove(const std::wstring& path, bool is_directory) noexcept {
  if (is_directory) return outcome_of(::RemoveDirectoryW(path.c_str()));
  const DWORD attributes = ::GetFileAttributesW(path.c_str());
  constexpr DWORD link_to_directory = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT;
  if (attributes != INVALID_FILE_ATTRIBUTES) {
    if ((attributes & link_to_directory) == link_to_directory) {
      return outcome_of(::RemoveDirectoryW(path.c_str()));
    }
    if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return -EISDIR;
  }
  return outcome_of(::DeleteFileW(path.c_str()));
}

std::int32_t set_permissions(const std::wstring& path, unsigned permissions) noexcept {
  DWORD attributes = ::GetFileAttributesW(path.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return -last_number();
  attributes &= ~DWORD{FILE_ATTRIBUTE_READONLY};
  if ((permissions & 0222U) == 0) attributes |= FILE_ATTRIBUTE_READONLY;
  return outcome_of(::SetFileAttributesW(path.c_str(), attributes));
}

std::int32_t make_symbolic_link(const std::wstring& path, const char* text) {
  std::wstring target;
  if (!to_wide(text, target)) return -number_of(ERROR_INVALID_NAME);
  constexpr DWORD unprivileged = 2;  // SYMBOLIC_LINK_FLAG_ALLOW_UNPRIVILEGED_CREATE
  return ::CreateSymbolicLinkW(path.c_str(), target.c_str(), unprivileged) != 0 ? 0
                                                                                : -last_number();
}

file_kind kind_of(DWORD attributes) noexcept {
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return file_kind::symlink;
  return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? file_kind::directory : file_kind::regular;
}

/// One directory at a time, which is removed when it is empty; its links are not entered.
std::int32_t remove_below(const std::wstring& root, detail::tree_removal& answer) {
  std::vector<std::wstring> open{root};
  while (!open.empty()) {
    if (tandem::stop_requested()) return -ECANCELED;
    const std::wstring here = open.back();
    const owned_handle opened(open_at(here, FILE_LIST_DIRECTORY, false));
    if (!opened.is_open()) return -last_number();
    detail::entry_list entries;
    std::int32_t outcome = 1;
    while (outcome > 0) outcome = read_entries(descriptor_of(opened.get()), entries);
    if (outcome < 0) return outcome;
    const std::size_t before = open.size();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      std::wstring name;
      (void)to_wide(entries.name_of(entries[i]), name);
      std::wstring path = here + L'\\' + name;
      if (entries[i].kind == file_kind::directory) {
        open.push_back(std::move(path));
        continue;
      }
      if (const std::int32_t removed = remove(path, false); removed < 0) {
        answer.failed = to_utf8(path);
        return removed;
      }
      ++answer.removed;
    }
    if (open.size() != before) continue;  // it is looked at again when they are gone
    open.pop_back();
    if (::RemoveDirectoryW(here.c_str()) == 0) {
      answer.failed = to_utf8(here);
      return -last_number();
    }
    ++answer.removed;
  }
  return 0;
}

std::int32_t remove_tree(const std::wstring& path, detail::tree_removal& answer) {
  const DWORD attributes = ::GetFileAttributesW(path.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    const DWORD error = ::GetLastError();
    const bool is_none = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
    return is_none ? 0 : -number_of(error);
  }
  if (kind_of(attributes) == file_kind::directory) return remove_below(path, answer);
  const std::int32_t outcome = remove(path, false);
  if (outcome == 0) ++answer.removed;
  return outcome;
}

std::int32_t act(detail::file_request& request) {
  using action = detail::file_action;
  detail::path_request& what = request.what();
  if (request.action() == action::list) return read_listing(request);
  const bool removes_tree = request.action() == action::remove_tree;
  const std::string given(removes_tree ? tree_path(what.path) : what.path);
  if (removes_tree && given.empty()) return -EINVAL;
  std::wstring path;
  const std::int32_t failure = whole_path(request.descriptor(), given.c_str(), path);
  if (failure < 0) return failure;
  std::wstring other;
  const bool leads_to = request.action() == action::rename || request.action() == action::link;
  if (leads_to) {
    const std::int32_t refused = whole_path(what.other_folder, what.other_path, other);
    if (refused < 0) return refused;
  }
  switch (request.action()) {
    case action::status_at: return status_at(path, request.flags(), what.answer);
    case action::make_directory: return outcome_of(::CreateDirectoryW(path.c_str(), nullptr));
    case action::remove: return remove(path, (request.flags() & detail::names_directory) != 0);
    case action::rename: {
      const bool replaces = (request.flags() & detail::replaces_nothing) == 0;
      return outcome_of(
          ::MoveFileExW(path.c_str(), other.c_str(), replaces ? MOVEFILE_REPLACE_EXISTING : 0));
    }
    case action::link: return outcome_of(::CreateHardLinkW(other.c_str(), path.c_str(), nullptr));
    case action::symlink: return make_symbolic_link(path, what.other_path);
    case action::set_permissions_at: return set_permissions(path, request.permissions());
    case action::remove_tree:
      return remove_tree(path, *static_cast<detail::tree_removal*>(what.answer));
    default: return -ENOTSUP;  // read_link
  }
}

}  // namespace

std::int32_t act_on_path(detail::file_request& request) noexcept {
  try {
    return act(request);
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

std::int32_t open_listing(native_descriptor folder, const char* path, int flags) noexcept {
  try {
    std::wstring whole;
    if (const std::int32_t failure = whole_path(folder, path, whole); failure < 0) return failure;
    constexpr DWORD access = FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES;
    owned_handle opened(open_at(whole, access, (flags & detail::follows_links) != 0));
    if (!opened.is_open()) return -last_number();
    BY_HANDLE_FILE_INFORMATION about{};
    if (::GetFileInformationByHandle(opened.get(), &about) == 0) return -last_number();
    if (kind_of(about.dwFileAttributes) != file_kind::directory) return -ENOTDIR;
    return tandem::io::platform::outcome_of(descriptor_of(opened.release()));
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

std::int32_t open_at_path(native_descriptor folder, const char* path, int flags,
                          unsigned permissions) noexcept {
  if ((flags & opens_directory) != 0) {
    return open_listing(folder, path, (flags & refuses_link) != 0 ? 0 : detail::follows_links);
  }
  if (!detail::is_descriptor(folder)) return open_file(path, flags, permissions);
  try {
    std::wstring whole;
    if (const std::int32_t failure = whole_path(folder, path, whole); failure < 0) return failure;
    return open_file(to_utf8(whole).c_str(), flags, permissions);
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

std::int32_t read_entries(native_descriptor directory, detail::entry_list& entries) noexcept {
  alignas(FILE_ID_BOTH_DIR_INFO) std::array<std::byte, std::size_t{64} << 10> room;
  if (::GetFileInformationByHandleEx(handle_of(directory), FileIdBothDirectoryInfo, room.data(),
                                     static_cast<DWORD>(room.size())) == 0) {
    const DWORD error = ::GetLastError();
    return error == ERROR_NO_MORE_FILES ? 0 : -number_of(error);
  }
  try {
    for (std::size_t at = 0;;) {
      const auto& each =
          *reinterpret_cast<const FILE_ID_BOTH_DIR_INFO*>(room.data() + at);  // NOLINT
      const std::string name =
          to_utf8(std::wstring_view(each.FileName, each.FileNameLength / sizeof(wchar_t)));
      if (name != "." && name != "..") {
        entries.add(name, kind_of(each.FileAttributes),
                    static_cast<std::uint64_t>(each.FileId.QuadPart));
      }
      if (each.NextEntryOffset == 0) return 1;
      at += each.NextEntryOffset;
    }
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

std::int32_t entry_status(native_descriptor folder, const char* path, int flags,
                          file_status& answer) noexcept {
  try {
    std::wstring whole;
    if (const std::int32_t failure = whole_path(folder, path, whole); failure < 0) return failure;
    alignas(8) std::byte room[status_bytes];
    const std::int32_t outcome = status_at(whole, flags, room);
    if (outcome == 0) answer = status_from(room);
    return outcome;
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

std::string usual_temporary_folder() {
  std::wstring path(MAX_PATH + 1, L'\0');
  path.resize(::GetTempPathW(static_cast<DWORD>(path.size()), path.data()));
  std::string made = to_utf8(path);
  while (made.size() > 3 && is_separator(made.back())) made.pop_back();  // C:\ stays
  return made;
}

std::string absolute_path(std::string path) {
  std::wstring wide;
  if (!to_wide(path, wide)) return path;
  std::wstring whole(::GetFullPathNameW(wide.c_str(), 0, nullptr, nullptr), L'\0');
  const auto room = static_cast<DWORD>(whole.size());
  const DWORD size = ::GetFullPathNameW(wide.c_str(), room, whole.data(), nullptr);
  if (size == 0 || size >= room) return path;  // the current folder has just become another one
  whole.resize(size);
  return to_utf8(whole);
}

bool is_separator(char each) noexcept { return each == '/' || each == '\\'; }

bool is_absolute(const std::string& path) noexcept {
  return (!path.empty() && is_separator(path.front())) || (path.size() > 1 && path[1] == ':');
}

int directory_open_flags(bool follows_link) noexcept {
  return opens_to_read | opens_directory | (follows_link ? 0 : refuses_link);
}

}  // namespace tandem::inline v0::io::platform
