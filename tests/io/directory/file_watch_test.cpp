// file_watch_test.cpp: changes of directories are told in their order, and so is their end.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/file_watch.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "loopback_ports.hpp"
#include "no_descriptors.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::change_kind;
using tandem::io::file_change;
using tandem::io::file_watch;
using tandem::io::watch_for;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;
namespace io = tandem::io;

TEST(file_watch, what_happens_in_a_directory_is_told_in_its_order) {
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

TEST(file_watch, who_waits_is_woken_by_a_change_and_a_stop_loses_none) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    file_watch watch;
    (void)co_await watch.add(folder.path(), watch_for::names);
    const auto waited = co_await as_result(tandem::with_timeout(2ms, watch.next()));
    EXPECT_TRUE(waited.is_cancelled());
    const auto wait = [](file_watch& of) -> task<file_change> { co_return co_await of.next(); };
    const auto make = [](std::string path) -> task<void> {
      co_await io::make_directory(std::move(path));
    };
    auto [change, made] = co_await tandem::when_all(wait(watch), make(folder / "d"));
    EXPECT_EQ(change.name, "d");
    co_await io::remove_directory(folder / "d");
    EXPECT_EQ((co_await watch.next()).kind, change_kind::removed);
  });
}

TEST(file_watch, a_directory_that_goes_or_moves_is_told_and_so_is_a_watch_that_is_removed) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    fs::create_directory(folder / "a");
    fs::create_directory(folder / "b");
    file_watch watch;
    const int a = co_await watch.add(folder / "a", watch_for::everything);
    const int b = co_await watch.add(folder / "b", watch_for::names);
    EXPECT_NE(a, b);
    EXPECT_EQ(co_await watch.add(folder / "a", watch_for::names), a) << "watched already";
    fs::rename(folder / "a", folder / "c");
    EXPECT_EQ((co_await watch.next()).kind, change_kind::moved_itself);
    put(folder / "c/f", {});
    EXPECT_EQ((co_await watch.next()).name, "f") << "the watch goes on";
    fs::remove_all(folder / "c");
    EXPECT_EQ((co_await watch.next()).kind, change_kind::removed);
    const file_change end = co_await watch.next();
    EXPECT_EQ(end.kind, change_kind::ended);
    EXPECT_EQ(end.watch, a);
    watch.remove(b);
    watch.remove(b);  // nothing
    const file_change removed = co_await watch.next();
    EXPECT_EQ(removed.kind, change_kind::ended);
    EXPECT_EQ(removed.watch, b);
    fs::remove(folder / "b");
  });
}

TEST(file_watch, a_file_is_watched_itself) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    put(folder / "f", bytes_of("contents"));
    file_watch watch;
    (void)co_await watch.add(folder / "f", watch_for::contents | watch_for::attributes);
    std::ofstream(folder / "f", std::ios::app) << "more";
    const file_change written = co_await watch.next();
    EXPECT_EQ(written.kind, change_kind::contents);
    EXPECT_EQ(written.name, "");
    fs::permissions(folder / "f", fs::perms::owner_read);
    EXPECT_EQ((co_await watch.next()).kind, change_kind::attributes);
    fs::remove(folder / "f");
  });
}

TEST(file_watch, what_cannot_be_watched_is_an_error_and_nothing_stays_open) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    const auto before = open_descriptors();
    {
      file_watch watch;
      const auto missing = co_await as_result(watch.add(folder / "none", watch_for::names));
      EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
    }
    EXPECT_EQ(open_descriptors(), before);
    std::error_code refused;
    try {
      const tandem::test::no_descriptors none;
      const file_watch watch;
    } catch (const std::system_error& failure) {
      refused = failure.code();
    }
    EXPECT_EQ(refused, std::errc::too_many_files_open);
  });
}

TEST(file_watch, more_changes_than_the_system_keeps_are_told_as_an_overflow) {
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
