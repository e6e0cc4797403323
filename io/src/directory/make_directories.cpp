// make_directories.cpp: from the last directory that is there downwards.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <utility>
#include <vector>

#include "directory/failure.hpp"
#include "platform/directories.hpp"

namespace tandem::inline v0::io {

namespace {

/// Where each component of the path ends.
std::vector<std::size_t> ends_of(const std::string& path) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= path.size(); ++i) {
    const bool is_end = i == path.size() || platform::is_separator(path[i]);
    if (is_end && !platform::is_separator(path[i - 1])) ends.push_back(i);
  }
  if (ends.empty()) ends.push_back(path.size());
  return ends;
}

/// One of them. @returns whether it is there; false: the one above is missing
task<bool> make_one(detail::file_handle* folder, std::string path, unsigned permissions,
                    bool is_last) {
  path_command_awaiter make(detail::file_action::make_directory, folder, path, 0, permissions);
  const result<void> made = co_await as_result(std::move(make));
  if (made) co_return true;
  if (made.error() == std::errc::no_such_file_or_directory) co_return false;
  if (made.is_cancelled()) throw_failure(made.error(), "make_directories", path);
  // Not every system says so first of what is there: a root, what may not be written to.
  path_status_awaiter look(folder, path, symlinks::follow);
  const result<file_status> found = co_await as_result(std::move(look));
  const bool is_there = found && found.value().kind == file_kind::directory;
  if (is_there || (found && !is_last)) co_return true;  // what is no directory fails below it
  const bool is_taken = found && made.error() == std::errc::file_exists;
  throw_failure(found.is_cancelled() ? found.error()
                : is_taken           ? std::make_error_code(std::errc::not_a_directory)
                                     : made.error(),
                "make_directories", path);
}

task<void> make_all(detail::file_handle* folder, std::string path, unsigned permissions) {
  const std::vector<std::size_t> ends = ends_of(path);
  // Others may remove what we have just made; not for ever.
  constexpr int most_attempts = 16;
  std::size_t next = ends.size() - 1;
  int attempts = 0;
  while (next < ends.size()) {
    const bool is_there =
        co_await make_one(folder, path.substr(0, ends[next]), permissions, next + 1 == ends.size());
    if (is_there) {
      ++next;
      continue;
    }
    if (next == 0 || (next + 1 == ends.size() && ++attempts > most_attempts)) {
      throw_failure(std::make_error_code(std::errc::no_such_file_or_directory), "make_directories",
                    path);
    }
    --next;
  }
}

}  // namespace

task<void> make_directories(std::string path, unsigned permissions) {
  return make_all(nullptr, std::move(path), permissions);
}

task<void> directory::make_directories(std::string path, unsigned permissions) {
  return make_all(&handle_, std::move(path), permissions);
}

}  // namespace tandem::inline v0::io
