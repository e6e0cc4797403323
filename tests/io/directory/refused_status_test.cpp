// refused_status_test.cpp: a walk through directories of which the system does not say which they are.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/walk.hpp>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::io::walk_options;
using tandem::test::on_every_home;

/// Of directories that are open, beneath the root.
std::atomic<bool> refuses_status{false};
std::atomic<int> asked{0};

TEST(walk_refusals, a_directory_that_cannot_be_told_from_others_is_one_that_could_not_be_read) {
  const tandem::test::temporary_folder folder;
  std::filesystem::create_directory(folder / "inside");
  on_every_home([&]() -> task<void> {
    const auto nothing = [](const tandem::io::walk_batch&) {};
    walk_options options;
    options.stays_on_device = true;
    asked = 0;
    refuses_status = true;
    const auto failed = co_await as_result(tandem::io::walk(folder.path(), nothing, options));
    std::atomic<int> told{0};
    options.on_unreadable = [&](const std::string& path, std::error_code failure) {
      EXPECT_EQ(path, folder / "inside");
      EXPECT_EQ(failure, std::errc::io_error);
      ++told;
    };
    asked = 0;
    const auto summary = co_await tandem::io::walk(folder.path(), nothing, options);
    refuses_status = false;
    EXPECT_EQ(failed.error(), std::errc::io_error);
    EXPECT_EQ(told, 1);
    EXPECT_EQ(summary.unreadable, 1U);
    EXPECT_EQ(summary.directories, 1U);
  });
}

}  // namespace

// It takes the place of the library's.
extern "C" int statx(int folder, const char* path, int flags, unsigned mask,
                     struct statx* answer) noexcept {
  if (refuses_status && std::string_view(path) == "." && ++asked > 1) {
    errno = EIO;
    return -1;
  }
  using call = int (*)(int, const char*, int, unsigned, struct statx*);
  static const auto of_library = reinterpret_cast<call>(::dlsym(RTLD_NEXT, "statx"));  // NOLINT
  return of_library(folder, path, flags, mask, answer);
}
