// linux_file_watch_test.cpp: what inotify tells that other systems do not, and what it may refuse.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/io/file_watch.hpp>
#include <tandem/io/read_file.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"

namespace {

using tandem::task;
using tandem::io::change_kind;
using tandem::io::file_change;
using tandem::io::file_watch;
using tandem::io::watch_for;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;
namespace io = tandem::io;

TEST(inotify, a_writer_that_is_done_is_told_and_what_is_a_directory) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    file_watch watch;
    const int number = co_await watch.add(folder.path(), watch_for::names | watch_for::writers);
    put(folder / "f", bytes_of("contents"));
    fs::create_directory(folder / "d");
    fs::rename(folder / "f", folder / "g");
    fs::remove(folder / "g");
    fs::remove(folder / "d");
    const std::vector<std::pair<change_kind, std::string>> expected{
        {change_kind::created, "f"},  {change_kind::closed_by_writer, "f"},
        {change_kind::created, "d"},  {change_kind::moved_from, "f"},
        {change_kind::moved_to, "g"}, {change_kind::removed, "g"},
        {change_kind::removed, "d"}};
    std::vector<std::pair<change_kind, std::string>> found;
    std::uint32_t cookie = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const file_change change = co_await watch.next();
      EXPECT_EQ(change.watch, number);
      EXPECT_EQ(change.is_directory, change.name == "d");
      if (change.kind == change_kind::moved_from) cookie = change.cookie;
      if (change.kind == change_kind::moved_to) {
        EXPECT_EQ(change.cookie, cookie);
      }
      found.emplace_back(change.kind, change.name);
    }
    EXPECT_EQ(found, expected);
  });
}

TEST(inotify, a_directory_that_moves_is_told_and_the_watch_goes_on) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    fs::create_directory(folder / "a");
    file_watch watch;
    (void)co_await watch.add(folder / "a", watch_for::names);
    fs::rename(folder / "a", folder / "c");
    EXPECT_EQ((co_await watch.next()).kind, change_kind::moved_itself);
    put(folder / "c/f", {});
    EXPECT_EQ((co_await watch.next()).name, "f");
    fs::remove_all(folder / "c");
  });
}

TEST(inotify, no_watch_is_made_without_a_descriptor) {
  on_every_home([&]() -> task<void> {
    std::error_code refused;
    try {
      const tandem::test::no_descriptors none;
      const file_watch watch;
    } catch (const std::system_error& failure) {
      refused = failure.code();
    }
    EXPECT_EQ(refused, std::errc::too_many_files_open);
    co_return;
  });
}

TEST(inotify, more_changes_than_the_system_keeps_are_told_as_an_overflow) {
  const temporary_folder folder(temporary_folder::in_memory());
  on_every_home([&]() -> task<void> {
    const std::string limit = co_await io::read_file("/proc/sys/fs/inotify/max_queued_events");
    const long most = std::stol(limit);
    file_watch watch;
    (void)co_await watch.add(folder.path(), watch_for::names);
    // One name each: two equal events one after the other would be one.
    for (long i = 0; i <= most / 2; ++i) {
      const std::string name = folder / std::to_string(i % 100);
      put(name, {});
      fs::remove(name);
    }
    long changes = 0;
    file_change last;
    while (last.watch != -1 || changes == 0) {
      last = co_await watch.next();
      ++changes;
    }
    EXPECT_EQ(last.kind, change_kind::overflow);
    EXPECT_EQ(changes, most + 1);
  });
}

}  // namespace
