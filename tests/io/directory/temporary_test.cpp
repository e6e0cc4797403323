// temporary_test.cpp: temporary files and directories leave nothing behind.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::open_temporary_file;
using tandem::io::temporary_directory;
using tandem::io::with_temporary_directory;
using tandem::test::bytes_of;
using tandem::test::get;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;

TEST(temporary, a_file_is_read_and_written_and_is_gone_when_it_is_closed) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    {
      file first = co_await open_temporary_file(folder.path());
      file second = co_await open_temporary_file(folder.path());
      co_await first.write_all_at(bytes_of("contents"), 0);
      std::vector<std::byte> room(8);
      co_await first.read_exactly_at(room, 0);
      EXPECT_EQ((co_await second.status()).size, 0U);
    }
    EXPECT_EQ(folder.entries(), 0U);
    EXPECT_TRUE((co_await open_temporary_file()).is_open());
    const auto failed = co_await as_result(open_temporary_file(folder / "none"));
    EXPECT_EQ(failed.error(), std::errc::no_such_file_or_directory);
  });
}

TEST(temporary, a_directory_is_removed_with_all_that_is_in_it_however_its_use_ends) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    const auto fill = [](temporary_directory& scratch) -> task<int> {
      co_await scratch.folder().make_directories("a/b");
      put(scratch.path() + "/a/f", bytes_of("contents"));
      co_return 7;
    };
    EXPECT_EQ(co_await with_temporary_directory(fill, folder.path()), 7);
    EXPECT_EQ(folder.entries(), 0U);
    const auto fail = [&](temporary_directory& scratch) -> task<void> {
      (void)co_await fill(scratch);
      EXPECT_EQ(folder.entries(), 1U);
      throw std::runtime_error("enough");
    };
    EXPECT_FALSE(co_await as_result(with_temporary_directory(fail, folder.path())));
    EXPECT_EQ(folder.entries(), 0U);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      const auto stop = [&](temporary_directory& scratch) -> task<void> {
        (void)co_await fill(scratch);
        scope.request_stop();
        co_await scratch.folder().make_directory("after the stop");
      };
      const auto stopped = co_await as_result(with_temporary_directory(stop, folder.path()));
      EXPECT_TRUE(stopped.is_cancelled());
    });
    EXPECT_EQ(folder.entries(), 0U);
    const auto missing = co_await as_result(with_temporary_directory(fill, folder / "none"));
    EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
    // Whoever removes it does no harm.
    const auto remove = [](temporary_directory& scratch) -> task<void> {
      co_await tandem::io::remove_directory(scratch.path());
    };
    co_await with_temporary_directory(remove, folder.path());
  });
}

}  // namespace
