// unix_paths_test.cpp: links, permissions, owners and limits, as Linux and its like have them.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/io/walk.hpp>

#include "io/support/as_nobody.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "io/support/small_disk.hpp"
#include "no_descriptors.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::directory;
using tandem::io::file;
using tandem::io::file_kind;
using tandem::io::symlinks;
using tandem::test::bytes_of;
using tandem::test::failure_of;
using tandem::test::get;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace io = tandem::io;

TEST(unix_paths, a_symbolic_link_is_followed_where_that_is_asked_for) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    put(folder / "f", bytes_of("contents"));
    co_await io::make_symbolic_link("f", folder / "link");
    EXPECT_EQ(co_await io::read_link(folder / "link"), "f");
    EXPECT_EQ((co_await io::status_of(folder / "link")).kind, file_kind::regular);
    EXPECT_EQ((co_await io::status_of(folder / "link", symlinks::keep)).kind, file_kind::symlink);
    EXPECT_EQ((co_await as_result(io::read_link(folder / "f"))).error(),
              std::errc::invalid_argument);
    // Of the link, not of what it leads to.
    co_await io::make_link(folder / "link", folder / "another");
    EXPECT_EQ((co_await io::status_of(folder / "another", symlinks::keep)).kind,
              file_kind::symlink);
    co_await io::remove_file(folder / "another");
    co_await io::remove_file(folder / "link");
    EXPECT_EQ(get(folder / "f"), "contents");
    const std::string text(3000, 'x');
    co_await io::make_symbolic_link(text, folder / "long");
    EXPECT_EQ(co_await io::read_link(folder / "long"), text);
    co_await io::remove_file(folder / "long");
    co_await io::make_symbolic_link(".", folder / "here");
    EXPECT_TRUE((co_await directory::open(folder / "here")).is_open());
    const auto kept = co_await as_result(directory::open(folder / "here", symlinks::keep));
    EXPECT_TRUE(kept.error() == std::errc::not_a_directory ||
                kept.error() == std::errc::too_many_symbolic_link_levels)
        << kept.error().message();
    co_await io::remove_file(folder / "here");
  });
}

TEST(unix_paths, failures_name_the_paths_and_what_was_tried) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    const std::string none = folder / "none";
    const std::string reason = "\": No such file or directory";
    EXPECT_EQ(co_await failure_of(io::remove_file(none)), "remove_file \"" + none + reason);
    EXPECT_EQ(co_await failure_of(io::rename_file(none, "x")),
              "rename_file \"" + none + "\" to \"x" + reason);
    EXPECT_EQ(co_await failure_of(io::status_of(none)), "status_of \"" + none + reason);
    EXPECT_EQ(co_await failure_of(directory::open(none)), "directory::open \"" + none + reason);
    directory d = co_await directory::open(folder.path());
    EXPECT_EQ(co_await failure_of(d.make_link("a", d, "b")),
              "make_link \"" + d.path() + "\": \"a\" to \"" + d.path() + "\": \"b" + reason);
    EXPECT_EQ(co_await failure_of(d.open_file("a")),
              "file::open \"" + d.path() + "\": \"a" + reason);
  });
}

TEST(unix_paths, permissions_are_set_of_a_path_and_of_a_file_that_is_open) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    co_await io::set_permissions(folder / "f", 0640);
    EXPECT_EQ((co_await io::status_of(folder / "f")).permissions, 0640U);
    file opened = co_await file::open(folder / "f");
    co_await opened.set_permissions(04711);
    EXPECT_EQ((co_await opened.status()).permissions, 04711U);
    EXPECT_EQ((co_await as_result(io::set_permissions(folder / "none", 0))).error(),
              std::errc::no_such_file_or_directory);
    file none;
    EXPECT_EQ((co_await as_result(none.set_permissions(0))).error(),
              std::errc::bad_file_descriptor);
    co_await io::make_directory(folder / "d", 0710);
    EXPECT_EQ((co_await io::status_of(folder / "d")).permissions & 0700U, 0700U);
    EXPECT_EQ((co_await io::status_of(folder / "d")).permissions & 07U, 0U);
    co_await io::remove_directory(folder / "d");
  });
}

TEST(unix_paths, status_is_what_the_system_says) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("12345"));
  on_every_home([&]() -> task<void> {
    struct ::stat known{};
    EXPECT_EQ(::stat((folder / "f").c_str(), &known), 0);
    const io::file_status found = co_await io::status_of(folder / "f");
    EXPECT_EQ(found.size, 5U);
    EXPECT_EQ(found.owner, known.st_uid);
    EXPECT_EQ(found.group, known.st_gid);
    const auto moment = [](const timespec& at) {
      return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
    };
    EXPECT_EQ(found.changed.time_since_epoch(), moment(known.st_ctim));
    EXPECT_EQ(found.accessed.time_since_epoch(), moment(known.st_atim));
    EXPECT_LE(found.created.value_or(found.changed), found.changed);
  });
}

TEST(unix_paths, a_rename_that_is_refused_leaves_the_file_one_name) {
  const temporary_folder folder;
  std::filesystem::create_directory(folder / "closed");
  put(folder / "closed/f", bytes_of("contents"));
  ASSERT_EQ(::chmod((folder / "closed/f").c_str(), 0666), 0);  // so that a link to it may be made
  ASSERT_EQ(::chmod((folder / "closed").c_str(), 0555), 0);
  const auto rename_it = [&]() -> task<void> {
    for (const auto existing : {io::if_exists::fail, io::if_exists::replace}) {
      const auto refused =
          co_await as_result(io::rename_file(folder / "closed/f", folder / "g", existing));
      EXPECT_EQ(refused.error(), std::errc::permission_denied);
      EXPECT_EQ((co_await io::status_of(folder / "closed/f")).links, 1U);
    }
  };
  tandem::test::as_nobody(folder.path(), [&] { on_every_home(rename_it); });
  EXPECT_EQ(::chmod((folder / "closed").c_str(), 0700), 0);
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(unix_paths, without_descriptors_nothing_is_opened_and_names_are_still_changed) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    co_await io::make_directory(folder / "d");
    directory d = co_await directory::open(folder / "d");
    io::directory_reader reader = d.list();
    {
      const tandem::test::no_descriptors none;
      constexpr auto refused = std::errc::too_many_files_open;
      EXPECT_EQ((co_await as_result(directory::open(folder.path()))).error(), refused);
      EXPECT_EQ((co_await as_result(reader.next())).error(), refused);
      EXPECT_EQ((co_await as_result(io::remove_tree(folder / "d"))).error(), refused);
      EXPECT_EQ((co_await as_result(io::open_temporary_file(folder.path()))).error(), refused);
      const auto nothing = [](const io::walk_batch&) {};
      EXPECT_EQ((co_await as_result(io::walk(folder.path(), nothing))).error(), refused);
      const auto use = [](io::temporary_directory&) -> task<void> { co_return; };
      const auto used = co_await as_result(io::with_temporary_directory(use, folder.path()));
      EXPECT_EQ(used.error(), refused);
      EXPECT_EQ((co_await io::status_of(folder.path())).links, 3U) << "nothing is left of it";
      co_await d.make_directory("inner");
    }
    // The reader goes on as if nothing had been.
    const auto first = co_await reader.next();
    EXPECT_TRUE(first && first->name == "inner");
    EXPECT_FALSE(co_await reader.next());
    EXPECT_EQ(co_await io::remove_tree(folder / "d"), 2U);
  });
}

/// The test below, on a disk with room for a few names.
task<void> fill_with_names(std::string disk) {
  directory d = co_await directory::open(disk);
  int made = 0;
  while (co_await as_result(d.make_directory(std::to_string(made)))) ++made;
  EXPECT_GT(made, 0);
  constexpr auto full = std::errc::no_space_on_device;
  EXPECT_EQ((co_await as_result(d.make_directory("more"))).error(), full);
  EXPECT_EQ((co_await as_result(d.make_directories("0/more"))).error(), full);
  EXPECT_EQ((co_await as_result(d.make_symbolic_link("0", "more"))).error(), full);
  EXPECT_EQ((co_await as_result(io::open_temporary_file(disk))).error(), full);
  const auto use = [](io::temporary_directory&) -> task<void> { co_return; };
  EXPECT_EQ((co_await as_result(io::with_temporary_directory(use, disk))).error(), full);
  // What needs no room goes on, and gives some.
  co_await d.rename("0", "renamed");
  EXPECT_EQ(co_await d.remove_tree("renamed"), 1U);
  EXPECT_TRUE((co_await io::open_temporary_file(disk)).is_open());
  for (int i = 1; i < made; ++i) co_await d.remove_directory(std::to_string(i));
}

TEST(unix_paths, a_disk_that_is_full_takes_no_more_names_and_gives_those_back_that_it_has) {
  tandem::test::on_small_disk("size=1m,nr_inodes=10", [](const std::string& disk) {
    on_every_home([&] { return fill_with_names(disk); });
  });
}

}  // namespace
