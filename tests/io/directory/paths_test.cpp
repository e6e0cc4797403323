// paths_test.cpp: names of files and directories: made, moved, looked at, taken away.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::directory;
using tandem::io::file;
using tandem::io::file_kind;
using tandem::io::if_exists;
using tandem::test::bytes_of;
using tandem::test::failure_of;
using tandem::test::get;
using tandem::test::new_file;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;
namespace io = tandem::io;

TEST(paths, a_directory_is_made_once_and_removed_when_it_is_empty) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    co_await io::make_directory(folder / "d");
    EXPECT_EQ((co_await io::status_of(folder / "d")).kind, file_kind::directory);
    const auto again = co_await as_result(io::make_directory(folder / "d"));
    EXPECT_EQ(again.error(), std::errc::file_exists);
    put(folder / "d/f", bytes_of("contents"));
    const auto full = co_await as_result(io::remove_directory(folder / "d"));
    EXPECT_EQ(full.error(), std::errc::directory_not_empty);
    co_await io::remove_file(folder / "d/f");
    co_await io::remove_directory(folder / "d");
    EXPECT_FALSE(fs::exists(folder / "d"));
    EXPECT_EQ((co_await as_result(io::remove_directory(folder / "d"))).error(),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ((co_await as_result(io::make_directory(folder / "none/d"))).error(),
              std::errc::no_such_file_or_directory);
  });
}

TEST(paths, a_rename_replaces_unless_it_is_told_not_to) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    put(folder / "a", bytes_of("first"));
    put(folder / "b", bytes_of("second"));
    const auto kept =
        co_await as_result(io::rename_file(folder / "a", folder / "b", if_exists::fail));
    EXPECT_EQ(kept.error(), std::errc::file_exists);
    EXPECT_EQ(get(folder / "a"), "first");
    EXPECT_EQ(get(folder / "b"), "second");
    co_await io::rename_file(folder / "a", folder / "b");
    EXPECT_EQ(get(folder / "b"), "first");
    EXPECT_FALSE(fs::exists(folder / "a"));
    co_await io::rename_file(folder / "b", folder / "c", if_exists::fail);
    EXPECT_EQ(get(folder / "c"), "first");
    co_await io::remove_file(folder / "c");
    const auto missing = co_await as_result(io::rename_file(folder / "a", folder / "b"));
    EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
  });
}

TEST(paths, of_many_renames_to_one_name_that_replace_nothing_one_succeeds) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    std::vector<task<int>> all;
    for (int i = 0; i < 8; ++i) {
      put(folder / std::to_string(i), bytes_of("x"));
      all.push_back([](std::string from, std::string to) -> task<int> {
        const auto moved = co_await as_result(io::rename_file(from, to, if_exists::fail));
        EXPECT_TRUE(moved || moved.error() == std::errc::file_exists) << moved.error().message();
        co_return moved ? 1 : 0;
      }(folder / std::to_string(i), folder / "one"));
    }
    int successes = 0;
    for (const int each : co_await tandem::when_all(std::move(all))) successes += each;
    EXPECT_EQ(successes, 1);
    EXPECT_EQ(folder.entries(), 8U);
    for (const auto& each : fs::directory_iterator(folder.path())) fs::remove(each.path());
  });
}

TEST(paths, a_link_is_one_more_name_of_the_same_file) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    put(folder / "a", bytes_of("contents"));
    co_await io::make_link(folder / "a", folder / "b");
    const auto first = co_await io::status_of(folder / "a");
    const auto second = co_await io::status_of(folder / "b");
    EXPECT_EQ(first.inode, second.inode);
    EXPECT_EQ(first.links, 2U);
    EXPECT_EQ((co_await as_result(io::make_link(folder / "a", folder / "b"))).error(),
              std::errc::file_exists);
    co_await io::remove_file(folder / "a");
    EXPECT_EQ(get(folder / "b"), "contents");
    co_await io::remove_file(folder / "b");
  });
}

TEST(paths, directories_are_made_with_those_above_them_also_by_many_at_once) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    co_await io::make_directories(folder / "a/b//c/");
    EXPECT_TRUE(fs::is_directory(folder / "a/b/c"));
    co_await io::make_directories(folder / "a/b/c");  // all of it is there
    std::vector<task<void>> all;
    for (int i = 0; i < 8; ++i) {
      all.push_back(io::make_directories(folder / "a/x/y/z/" + std::to_string(i % 2)));
    }
    co_await tandem::when_all(std::move(all));
    EXPECT_TRUE(fs::is_directory(folder / "a/x/y/z/1"));
    put(folder / "a/f", bytes_of("a file"));
    EXPECT_EQ((co_await as_result(io::make_directories(folder / "a/f"))).error(),
              std::errc::not_a_directory);
    const auto below = co_await as_result(io::make_directories(folder / "a/f/g"));
    EXPECT_TRUE(below.error() == std::errc::not_a_directory ||
                below.error() == std::errc::no_such_file_or_directory)
        << below.error().message();
    fs::remove_all(folder / "a");
  });
}

TEST(paths, a_directory_that_is_open_is_the_place_of_its_paths) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    fs::create_directory(folder / "d");
    {
      directory d = co_await directory::open(folder / "d");
      EXPECT_EQ(d.path(), folder / "d");
      co_await d.make_directory("inner");
      co_await d.make_directories("x/y");
      {
        file made = co_await d.open_file("f", new_file());
        co_await made.write_all_at(bytes_of("contents"), 0);
      }
      directory inner = co_await d.open_directory("inner");
      EXPECT_EQ(inner.path(), folder / "d" + "/inner");
      co_await d.rename("f", inner, "g", if_exists::fail);
      co_await inner.make_link("g", d, "h");
      EXPECT_EQ((co_await d.status("h")).size, 8U);
      co_await inner.rename("g", "i");
      EXPECT_EQ(get(folder / "d/inner/i"), "contents");
      EXPECT_TRUE((co_await d.open_beneath("inner/i")).is_open());
      co_await d.remove_file("h");
      co_await d.remove_directory("x/y");
      const std::string failure = co_await failure_of(d.remove_file("h"));
      EXPECT_TRUE(failure.starts_with("remove_file \"" + folder / "d" + "\": \"h\": ")) << failure;
      const std::string other = co_await failure_of(d.remove_directory("h"));
      EXPECT_TRUE(other.starts_with("remove_directory \"" + folder / "d" + "\": \"h\": ")) << other;
    }
    fs::remove_all(folder / "d");
  });
}

TEST(paths, a_directory_that_is_not_open_leads_nowhere) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    directory none;
    // Not even where a path would lead without it.
    const std::string path = folder / "d";
    constexpr auto refused = std::errc::bad_file_descriptor;
    EXPECT_EQ((co_await as_result(none.make_directory(path))).error(), refused);
    EXPECT_EQ((co_await as_result(none.status(folder.path()))).error(), refused);
    EXPECT_EQ((co_await as_result(none.open_file(path, new_file()))).error(), refused);
    EXPECT_EQ((co_await as_result(none.open_directory(folder.path()))).error(), refused);
    EXPECT_EQ((co_await as_result(none.remove_tree(path))).error(), refused);
    EXPECT_EQ((co_await as_result(none.sync())).error(), refused);
    tandem::io::directory_reader reader = none.list();
    EXPECT_EQ((co_await as_result(reader.next())).error(), refused);
    directory open = co_await directory::open(folder.path());
    EXPECT_EQ((co_await as_result(open.rename("a", none, "b"))).error(), refused);
    EXPECT_EQ(folder.entries(), 0U);
  });
}

TEST(paths_death, closing_a_directory_to_which_something_is_being_renamed_is_refused) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  fs::create_directory(folder / "d");
  EXPECT_DEATH(
      {
        tandem::test::test_runtime rt(1);
        rt.run([&]() -> task<void> {
          directory from = co_await directory::open(folder.path());
          directory to = co_await directory::open(folder / "d");
          // On one worker it waits for a rename whenever the other task runs.
          auto renaming = tandem::spawn([](directory& one, directory& other) -> task<void> {
            while (co_await as_result(one.rename("f", other, "f")) &&
                   co_await as_result(other.rename("f", one, "f"))) {}
          }(from, to));
          co_await tandem::yield();
          to.close();
          co_await renaming;
        }());
      },
      "in flight");
}

TEST(paths, a_zero_in_a_path_is_refused) {
  on_every_home([]() -> task<void> {
    const std::string path("a\0b", 3);
    constexpr auto refused = std::errc::invalid_argument;
    EXPECT_EQ((co_await as_result(io::make_directory(path))).error(), refused);
    EXPECT_EQ((co_await as_result(io::rename_file("none", path))).error(), refused);
    EXPECT_EQ((co_await as_result(directory::open(path))).error(), refused);
    EXPECT_EQ((co_await as_result(io::remove_tree(path))).error(), refused);
  });
}

TEST(paths, a_stop_before_the_call_ends_it_and_nothing_is_done) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    directory d = co_await directory::open(folder.path());
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      EXPECT_TRUE((co_await as_result(d.make_directory("d"))).is_cancelled());
      EXPECT_TRUE((co_await as_result(d.remove_file("f"))).is_cancelled());
      EXPECT_TRUE((co_await as_result(d.rename("f", "g"))).is_cancelled());
      EXPECT_TRUE((co_await as_result(d.make_link("f", "g"))).is_cancelled());
      EXPECT_TRUE((co_await as_result(d.status("f"))).is_cancelled());
      EXPECT_TRUE((co_await as_result(d.set_permissions("f", 0))).is_cancelled());
      EXPECT_TRUE((co_await as_result(d.remove_tree("f"))).is_cancelled());
      EXPECT_TRUE((co_await as_result(d.make_directories("d/e"))).is_cancelled());
      EXPECT_TRUE((co_await as_result(d.open_directory("."))).is_cancelled());
      tandem::io::directory_reader reader = d.list();
      EXPECT_TRUE((co_await as_result(reader.next())).is_cancelled());
    });
    EXPECT_EQ(get(folder / "f"), "contents");
    EXPECT_EQ(folder.entries(), 1U);
  });
}

TEST(paths, what_is_no_directory_is_not_opened_as_one) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    const auto opened = co_await as_result(directory::open(folder / "f"));
    EXPECT_EQ(opened.error(), std::errc::not_a_directory);
    const auto missing = co_await as_result(directory::open(folder / "none"));
    EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
  });
}

TEST(paths, advice_changes_nothing_of_a_file) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    using enum io::file_access;
    for (const auto how : {sequential, random, once, soon, no_more, normal}) {
      co_await source.advise(how);
    }
    co_await source.advise(random, 2, 3);
    file none;
    EXPECT_EQ((co_await as_result(none.advise(random))).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await source.status()).size, 8U);
  });
}

}  // namespace
