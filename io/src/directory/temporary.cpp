// temporary.cpp: files and directories with names that nobody can guess.
// SPDX-License-Identifier: MIT
#include <tandem/io/temporary.hpp>

#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/shielded.hpp>
#include <utility>

#include "directory/failure.hpp"
#include "platform/directories.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr int most_tries = 100;

std::string new_name() {
  // Of the system: whoever has seen one name must not know the next one.
  std::random_device dice;
  std::array<char, 32> name{};
  (void)std::snprintf(name.data(), name.size(), "tandem-%08x%08x", dice(), dice());
  return name.data();
}

std::string new_path(const std::string& folder) { return folder + '/' + new_name(); }

/// With a name that is taken away at once.
task<file> open_named(std::string folder) {
  open_options options(open_mode::read_write);
  options.create = options.exclusive = true;
  options.permissions = 0600;
  for (int i = 0;; ++i) {
    const std::string path = new_path(folder);
    result<file> made = co_await as_result(file::open(path, options));
    if (made) {
      co_await shielded(remove_file(path));  // also after a stop
      co_return std::move(made).value();
    }
    if (made.error() != std::errc::file_exists || i == most_tries) {
      throw_failure(made.error(), "open_temporary_file", path);
    }
  }
}

}  // namespace

task<file> open_temporary_file(std::string folder) {
  if (folder.empty()) folder = platform::usual_temporary_folder();
  open_options options(open_mode::read_write);
  options.unnamed = true;
  options.permissions = 0600;
  result<file> made = co_await as_result(file::open(folder, options));
  if (made) co_return std::move(made).value();
  // Older systems take it for a folder that is opened for writing.
  const bool knows_none = made.error() == std::errc::operation_not_supported ||
                          made.error() == std::errc::is_a_directory ||
                          made.error() == std::errc::invalid_argument;
  if (knows_none) co_return co_await open_named(std::move(folder));
  throw_failure(made.error(), "open_temporary_file", folder);
}

namespace detail {

task<temporary_directory> make_temporary_directory(std::string folder) {
  // The process may have another current folder by the time that it is removed.
  folder = platform::absolute_path(folder.empty() ? platform::usual_temporary_folder()
                                                  : std::move(folder));
  for (int i = 0;; ++i) {
    std::string path = new_path(folder);
    const result<void> made = co_await as_result(make_directory(path, 0700));
    if (made) {
      // It is there, so it is opened also after a stop: else nobody would remove it.
      result<directory> opened =
          co_await as_result(shielded(directory::open(path, symlinks::keep)));
      if (opened) co_return temporary_directory(std::move(opened).value(), std::move(path));
      (void)co_await as_result(shielded(remove_directory(path)));
      throw_failure(opened.error(), "with_temporary_directory", path);
    }
    if (made.error() != std::errc::file_exists || i == most_tries) {
      throw_failure(made.error(), "with_temporary_directory", path);
    }
  }
}

task<void> remove_temporary_directory(temporary_directory& made) {
  made.folder().close();  // some systems remove nothing that is open
  (void)co_await remove_tree(made.path());
}

}  // namespace detail

}  // namespace tandem::inline v0::io
