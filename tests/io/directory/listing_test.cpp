// listing_test.cpp: the entries of a directory, one after the other.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/task_scope.hpp>
#include <utility>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::directory;
using tandem::io::directory_entry;
using tandem::io::directory_reader;
using tandem::io::file_kind;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;
namespace io = tandem::io;

task<std::multiset<std::string>> names_of(directory_reader reader) {
  std::multiset<std::string> names;
  while (auto entry = co_await reader.next()) names.insert(std::move(entry->name));
  EXPECT_FALSE(co_await reader.next()) << "the end stays the end";
  co_return names;
}

TEST(listing, an_empty_directory_has_no_entries) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    EXPECT_TRUE((co_await names_of(io::list_directory(folder.path()))).empty());
  });
}

TEST(listing, every_entry_is_told_once_with_its_kind) {
  const temporary_folder folder;
  put(folder / "a file", bytes_of("contents"));
  fs::create_directory(folder / "a directory");
  on_every_home([&]() -> task<void> {
    directory_reader reader = io::list_directory(folder.path());
    std::multiset<std::pair<std::string, file_kind>> found;
    while (const auto entry = co_await reader.next()) found.emplace(entry->name, entry->kind);
    const std::multiset<std::pair<std::string, file_kind>> expected{
        {"a directory", file_kind::directory}, {"a file", file_kind::regular}};
    EXPECT_EQ(found, expected);
  });
}

TEST(listing, a_directory_larger_than_a_buffer_is_listed_whole) {
  const temporary_folder folder(temporary_folder::in_memory());
  std::multiset<std::string> expected;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "some name that is not short " + std::to_string(i);
    put(folder / name, {});
    expected.insert(name);
  }
  on_every_home([&]() -> task<void> {
    EXPECT_EQ(co_await names_of(io::list_directory(folder.path())), expected);
  });
}

TEST(listing, readers_of_one_directory_do_not_disturb_each_other_and_outlive_it) {
  const temporary_folder folder;
  put(folder / "f", {});
  on_every_home([&]() -> task<void> {
    directory d = co_await directory::open(folder.path());
    directory_reader first = d.list();
    directory_reader second = d.list();
    const auto one = co_await first.next();
    const auto other = co_await second.next();
    EXPECT_TRUE(one && one->name == "f");
    EXPECT_TRUE(other && other->name == "f");
    d.close();
    directory_reader moved = std::move(first);
    EXPECT_FALSE(co_await moved.next());
  });
}

TEST(listing, what_is_no_directory_has_no_entries) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    directory_reader of_file = io::list_directory(folder / "f");
    EXPECT_EQ((co_await as_result(of_file.next())).error(), std::errc::not_a_directory);
    directory_reader of_none = io::list_directory(folder / "none");
    EXPECT_EQ((co_await as_result(of_none.next())).error(), std::errc::no_such_file_or_directory);
    fs::create_directory(folder / "none");
    EXPECT_FALSE(co_await of_none.next()) << "it is opened by the first call that can";
    fs::remove(folder / "none");
  });
}

TEST(listing, an_entry_that_is_there_is_told_also_after_a_stop_and_the_rest_later) {
  const temporary_folder folder;
  put(folder / "a", {});
  put(folder / "b", {});
  on_every_home([&]() -> task<void> {
    directory_reader reader = io::list_directory(folder.path());
    int found = 0;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      if (co_await reader.next()) ++found;
      scope.request_stop();
      if (co_await reader.next()) ++found;
      const auto after = co_await as_result(reader.next());
      EXPECT_TRUE(after.is_cancelled() || !after.value()) << "no entry is told twice";
    });
    EXPECT_FALSE(co_await reader.next());
    EXPECT_EQ(found, 2);
  });
}

}  // namespace
