// paths.cpp: the system calls of actions on paths, all of which may wait.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "platform/directories.hpp"
#include "platform/files.hpp"
#include "platform/unix/file_outcome.hpp"
#include "platform/unix/path_calls.hpp"
#include "platform/unix/path_flags.hpp"
#include "platform/unix/tree_remover.hpp"

namespace tandem::inline v0::io::platform {

namespace {

std::int32_t read_link(int folder, const char* path, std::string& answer) noexcept {
  try {
    // A link's text has no length that all file systems keep to.
    for (std::size_t room = 256;; room *= 2) {
      answer.resize(room);
      const ssize_t bytes = ::readlinkat(folder, path, answer.data(), room);
      if (bytes < 0) return -errno;
      if (static_cast<std::size_t>(bytes) < room) {
        answer.resize(static_cast<std::size_t>(bytes));
        return 0;
      }
    }
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace

std::int32_t act_on_path(detail::file_request& request) noexcept {
  using action = detail::file_action;
  detail::path_request& what = request.what();
  const int folder = folder_of(request.descriptor());
  const int other = folder_of(what.other_folder);
  switch (request.action()) {
    case action::status_at:
      return file_outcome_of(status_at(folder, what.path, request.flags(), what.answer));
    case action::make_directory:
      return file_outcome_of(::mkdirat(folder, what.path, request.permissions()));
    case action::remove:
      return file_outcome_of(::unlinkat(folder, what.path, remove_flags_of(request.flags())));
    case action::rename:
      return file_outcome_of(rename_at(folder, what.path, other, what.other_path, request.flags()));
    case action::link:
      return file_outcome_of(::linkat(folder, what.path, other, what.other_path, 0));
    case action::symlink: return file_outcome_of(::symlinkat(what.other_path, folder, what.path));
    case action::read_link:
      return read_link(folder, what.path, *static_cast<std::string*>(what.answer));
    case action::set_permissions_at:
      return file_outcome_of(::fchmodat(folder, what.path, request.permissions(), 0));
    case action::list: return read_listing(request);
    case action::remove_tree:
      return remove_tree(folder, what.path, *static_cast<detail::tree_removal*>(what.answer));
    default: return -EINVAL;
  }
}

std::int32_t open_at_path(native_descriptor folder, const char* path, int flags,
                          unsigned permissions) noexcept {
  return file_outcome_of(::openat(folder_of(folder), path, flags, permissions));
}

std::int32_t open_listing(native_descriptor folder, const char* path, int flags) noexcept {
  return file_outcome_of(::openat(folder_of(folder), path, listing_flags_of(flags)));
}

std::int32_t entry_status(native_descriptor folder, const char* path, int flags,
                          file_status& answer) noexcept {
  alignas(8) std::byte room[status_bytes];
  if (status_at(folder_of(folder), path, flags, room) != 0) return -errno;
  answer = status_from(room);
  return 0;
}

std::string usual_temporary_folder() {
  const char* const given = std::getenv("TMPDIR");
  return given != nullptr && *given != '\0' ? given : "/tmp";
}

std::string absolute_path(std::string path) {
  if (is_absolute(path)) return path;
  std::string here(256, '\0');
  while (::getcwd(here.data(), here.size()) == nullptr) {
    if (errno != ERANGE) return path;
    here.resize(2 * here.size());
  }
  here.resize(here.find('\0'));
  return here + '/' + path;
}

bool is_separator(char each) noexcept { return each == '/'; }

bool is_absolute(const std::string& path) noexcept { return path.starts_with('/'); }

int directory_open_flags(bool follows_link) noexcept {
  return listing_flags_of(follows_link ? detail::follows_links : 0);
}

}  // namespace tandem::inline v0::io::platform
