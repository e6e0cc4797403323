// windows_file_watch_test.cpp: what Windows does not tell of changes, and what is lost.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_watch.hpp>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "windows/own_handles.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::change_kind;
using tandem::io::file_change;
using tandem::io::file_watch;
using tandem::io::watch_for;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;

/// Handles of files and directories that this process has.
std::size_t open_files() {
  std::size_t count = 0;
  tandem::test::for_each_own_handle([&](HANDLE each) {
    if (::GetFileType(each) == FILE_TYPE_DISK) ++count;
  });
  return count;
}

TEST(windows_file_watch, the_end_of_writers_is_refused_where_it_is_asked_for_by_name) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    file_watch watch;
    const auto alone = co_await as_result(watch.add(folder.path(), watch_for::writers));
    EXPECT_EQ(alone.error(), std::errc::not_supported);
    const auto beside =
        co_await as_result(watch.add(folder.path(), watch_for::names | watch_for::writers));
    EXPECT_EQ(beside.error(), std::errc::not_supported);
    (void)co_await watch.add(folder.path(), watch_for::everything);
    put(folder / "f", {});
    EXPECT_EQ((co_await watch.next()).kind, change_kind::created);
    fs::remove(folder / "f");
  });
}

TEST(windows_file_watch, more_changes_than_are_kept_are_told_as_an_overflow_and_it_goes_on) {
  const temporary_folder folder;
  tandem::test::test_runtime rt;
  tandem::io::install(*rt, tandem::test::steady_threads());
  const auto lose = [&]() -> task<void> {
    file_watch watch;
    const int number = co_await watch.add(folder.path(), watch_for::names);
    for (int i = 0; i != 9000; ++i) {
      const std::string name = folder / std::to_string(i % 100);
      put(name, {});
      fs::remove(name);
    }
    file_change last;
    do {
      last = co_await watch.next();
    } while (last.kind != change_kind::overflow);
    EXPECT_EQ(last.watch, -1);
    EXPECT_EQ(last.name, "");
    put(folder / "later", {});
    do {
      last = co_await watch.next();
    } while (last.name != "later");
    EXPECT_EQ(last.kind, change_kind::created);
    EXPECT_EQ(last.watch, number);
    fs::remove(folder / "later");
  };
  rt.run(lose());
}

TEST(windows_file_watch, one_that_ends_while_changes_come_leaves_nothing_behind) {
  const temporary_folder folder;
  const std::size_t before = open_files();
  on_every_home([&]() -> task<void> {
    for (int i = 0; i != 20; ++i) {
      file_watch watch;
      const int number = co_await watch.add(folder.path(), watch_for::everything);
      fs::create_directory(folder / "d");
      fs::remove(folder / "d");
      if (i % 2 == 0) watch.remove(number);
    }
  });
  EXPECT_EQ(open_files(), before) << "those that were watched";
}

}  // namespace
