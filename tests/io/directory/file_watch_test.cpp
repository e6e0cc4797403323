// file_watch_test.cpp: changes of directories are told in their order, and so is their end.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/file_watch.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "loopback_ports.hpp"

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

using named = std::pair<change_kind, std::string>;

/// The next change that is not `passed_over`, of which a system may tell as many as it likes.
task<file_change> next_but(file_watch& watch, change_kind passed_over) {
  while (true) {
    file_change change = co_await watch.next();
    if (change.kind != passed_over) co_return change;
  }
}

TEST(file_watch, what_happens_to_names_in_a_directory_is_told_in_its_order) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    file_watch watch;
    const int number = co_await watch.add(folder.path(), watch_for::names);
    put(folder / "f", bytes_of("contents"));
    fs::create_directory(folder / "d");
    fs::rename(folder / "f", folder / "g");
    fs::remove(folder / "g");
    fs::remove(folder / "d");
    const std::vector<named> expected{{change_kind::created, "f"},    {change_kind::created, "d"},
                                      {change_kind::moved_from, "f"}, {change_kind::moved_to, "g"},
                                      {change_kind::removed, "g"},    {change_kind::removed, "d"}};
    std::vector<named> found;
    std::uint32_t cookie = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const file_change change = co_await watch.next();
      EXPECT_EQ(change.watch, number);
      if (change.kind == change_kind::moved_from) cookie = change.cookie;
      if (change.kind == change_kind::moved_to) {
        EXPECT_EQ(change.cookie, cookie);
        EXPECT_NE(cookie, 0U);
      }
      found.emplace_back(change.kind, change.name);
    }
    EXPECT_EQ(found, expected);
  });
}

TEST(file_watch, a_name_is_told_as_it_is_whatever_letters_it_has) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    file_watch watch;
    (void)co_await watch.add(folder.path(), watch_for::names);
    const std::string name = "na\xc3\xafve \xe6\x96\x87";  // UTF-8
    co_await io::make_directory(folder / name);
    EXPECT_EQ((co_await watch.next()).name, name);
    co_await io::remove_directory(folder / name);
  });
}

TEST(file_watch, what_is_written_is_told_with_the_files_name) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    put(folder / "f", {});
    file_watch watch;
    (void)co_await watch.add(folder.path(), watch_for::names | watch_for::contents);
    std::ofstream(folder / "f", std::ios::app) << "more";
    const file_change written = co_await watch.next();
    EXPECT_EQ(named(written.kind, written.name), named(change_kind::contents, "f"));
    fs::remove(folder / "f");
    const file_change gone = co_await next_but(watch, change_kind::contents);
    EXPECT_EQ(named(gone.kind, gone.name), named(change_kind::removed, "f"));
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

TEST(file_watch, a_directory_that_goes_is_told) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    fs::create_directory(folder / "a");
    file_watch watch;
    const int number = co_await watch.add(folder / "a", watch_for::names);
    put(folder / "a/f", {});
    fs::remove_all(folder / "a");
    EXPECT_EQ((co_await watch.next()).kind, change_kind::created);
    EXPECT_EQ((co_await watch.next()).kind, change_kind::removed);
    const file_change end = co_await watch.next();
    EXPECT_EQ(end.kind, change_kind::ended);
    EXPECT_EQ(end.watch, number);
  });
}

TEST(file_watch, one_that_is_removed_ends_and_the_others_go_on) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    fs::create_directory(folder / "a");
    fs::create_directory(folder / "b");
    file_watch watch;
    const int a = co_await watch.add(folder / "a", watch_for::names);
    const int b = co_await watch.add(folder / "b", watch_for::names);
    EXPECT_NE(a, b);
    watch.remove(b);
    watch.remove(b);  // nothing
    const file_change removed = co_await watch.next();
    EXPECT_EQ(removed.kind, change_kind::ended);
    EXPECT_EQ(removed.watch, b);
    fs::create_directory(folder / "b/c");
    fs::create_directory(folder / "a/d");
    const file_change other = co_await watch.next();
    EXPECT_EQ(other.watch, a);
    EXPECT_EQ(other.name, "d");
    fs::remove_all(folder / "a");
    fs::remove_all(folder / "b");
  });
}

TEST(file_watch, what_is_watched_already_keeps_its_number_and_is_watched_for_something_else) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    fs::create_directory(folder / "a");
    put(folder / "a/f", {});
    file_watch watch;
    const int number = co_await watch.add(folder / "a", watch_for::contents);
    EXPECT_EQ(co_await watch.add(folder / "a", watch_for::names), number);
    std::ofstream(folder / "a/f", std::ios::app) << "more";
    fs::remove(folder / "a/f");
    const file_change change = co_await watch.next();
    EXPECT_EQ(named(change.kind, change.name), named(change_kind::removed, "f"));
    EXPECT_EQ(change.watch, number);
    watch.remove(number);
    EXPECT_EQ((co_await watch.next()).kind, change_kind::ended) << "once";
    const auto nothing = co_await as_result(tandem::with_timeout(2ms, watch.next()));
    EXPECT_TRUE(nothing.is_cancelled());
    fs::remove_all(folder / "a");
  });
}

TEST(file_watch, a_file_is_watched_itself_and_its_neighbours_are_not) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    put(folder / "f", bytes_of("contents"));
    file_watch watch;
    (void)co_await watch.add(folder / "f", watch_for::contents | watch_for::attributes);
    put(folder / "g", bytes_of("contents"));
    fs::rename(folder / "g", folder / "h");
    fs::remove(folder / "h");
    std::ofstream(folder / "f", std::ios::app) << "more";
    const file_change written = co_await watch.next();
    EXPECT_EQ(written.kind, change_kind::contents);
    EXPECT_EQ(written.name, "");
    fs::permissions(folder / "f", fs::perms::owner_read);
    EXPECT_EQ((co_await next_but(watch, change_kind::contents)).kind, change_kind::attributes);
    fs::permissions(folder / "f", fs::perms::owner_read | fs::perms::owner_write);
    fs::remove(folder / "f");
  });
}

TEST(file_watch, a_file_that_gets_another_name_is_watched_on_and_its_end_is_told) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    put(folder / "f", {});
    file_watch watch;
    (void)co_await watch.add(folder / "f", watch_for::contents);
    fs::rename(folder / "f", folder / "g");
    EXPECT_EQ((co_await watch.next()).kind, change_kind::moved_itself);
    std::ofstream(folder / "g", std::ios::app) << "more";
    EXPECT_EQ((co_await watch.next()).kind, change_kind::contents);
    fs::remove(folder / "g");
    EXPECT_EQ((co_await next_but(watch, change_kind::contents)).kind, change_kind::ended);
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
  });
}

}  // namespace
