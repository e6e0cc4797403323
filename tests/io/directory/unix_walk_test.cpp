// unix_walk_test.cpp: walks and links, what cannot be read, deep trees, few descriptors.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/walk.hpp>
#include <utility>
#include <vector>

#include "io/support/as_nobody.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "loopback_ports.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::directory;
using tandem::io::file_kind;
using tandem::io::symlinks;
using tandem::io::walk;
using tandem::io::walk_batch;
using tandem::io::walk_entry;
using tandem::io::walk_options;
using tandem::io::walk_summary;
using tandem::test::as_nobody;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;

TEST(unix_walk, links_are_told_and_not_followed_unless_that_is_asked_for_and_circles_end) {
  const temporary_folder folder(temporary_folder::in_memory());
  const temporary_folder outside(temporary_folder::in_memory());
  put(outside / "far", {});
  fs::create_directory(folder / "d");
  put(folder / "d/f", {});
  fs::create_symlink(outside.path(), folder / "away");
  fs::create_symlink("..", folder / "d/circle");
  fs::create_symlink("none", folder / "dangling");
  on_every_home([&]() -> task<void> {
    std::atomic<int> links{0};
    const auto count = [&](const walk_batch& found) {
      for (const walk_entry entry : found) links += entry.kind() == file_kind::symlink ? 1 : 0;
    };
    EXPECT_EQ((co_await walk(folder.path(), count)).entries, 5U);
    EXPECT_EQ(links, 3);
    links = 0;
    walk_options follow;
    follow.links = symlinks::follow;
    const walk_summary all = co_await walk(folder.path(), count, follow);
    EXPECT_EQ(all.entries, 6U);
    EXPECT_EQ(all.directories, 3U);
    EXPECT_EQ(links, 1) << "only the one that leads nowhere";
  });
}

TEST(unix_walk, a_directory_that_is_open_is_walked_whatever_it_is_called_by_now) {
  const temporary_folder folder(temporary_folder::in_memory());
  on_every_home([&]() -> task<void> {
    fs::create_directories(folder / "before/inner");
    put(folder / "before/one", {});
    put(folder / "before/inner/two", {});
    {
      directory root = co_await directory::open(folder / "before");
      fs::rename(folder / "before", folder / "after");
      std::atomic<int> entries{0};
      co_await walk(root, [&](const walk_batch& found) { entries += int(found.size()); });
      EXPECT_EQ(entries, 3);
    }
    fs::remove_all(folder / "after");
  });
}

TEST(unix_walk, what_cannot_be_read_ends_the_walk_or_is_told) {
  const temporary_folder folder(temporary_folder::in_memory());
  fs::create_directory(folder / "closed");
  fs::create_directory(folder / "open");
  ASSERT_EQ(::chmod((folder / "closed").c_str(), 0), 0);
  const auto walk_it = [&]() -> task<void> {
    const auto nothing = [](const walk_batch&) {};
    const auto failed = co_await as_result(walk(folder.path(), nothing));
    EXPECT_EQ(failed.error(), std::errc::permission_denied);
    std::atomic<int> told{0};
    walk_options options;
    options.on_unreadable = [&](const std::string& path, std::error_code failure) {
      EXPECT_EQ(path, folder / "closed");
      EXPECT_EQ(failure, std::errc::permission_denied);
      ++told;
    };
    const walk_summary summary = co_await walk(folder.path(), nothing, options);
    EXPECT_EQ(told, 1);
    EXPECT_EQ(summary.unreadable, 1U);
    EXPECT_EQ(summary.directories, 2U);
  };
  as_nobody(folder.path(), [&] { on_every_home(walk_it); });
  EXPECT_EQ(::chmod((folder / "closed").c_str(), 0700), 0);
}

/// So deep that no path of it would be taken by the system, with two directories on each level.
task<void> make_deep(directory& root, int levels) {
  std::string name(40, 'n');
  directory here = co_await root.open_directory(".");
  for (int i = 0; i < levels; ++i) {
    co_await here.make_directory("beside");
    co_await here.make_directory(name);
    here = co_await here.open_directory(name);
  }
}

TEST(unix_walk, a_tree_deeper_than_any_path_and_than_there_are_descriptors_is_walked_and_removed) {
  const temporary_folder folder(temporary_folder::in_memory());
  on_every_home([&]() -> task<void> {
    constexpr int levels = 500;
    fs::create_directory(folder / "deep");
    {
      directory root = co_await directory::open(folder / "deep");
      co_await make_deep(root, levels);
      const auto before = open_descriptors();
      std::atomic<std::size_t> most{0};
      const auto look = [&](const walk_batch&) {
        if (const std::size_t now = open_descriptors(); now > most) most = now;
      };
      walk_options options;
      options.batch_entries = 16;
      const walk_summary summary = co_await walk(root, look, options);
      EXPECT_EQ(summary.entries, 2U * levels);
      EXPECT_EQ(summary.directories, 2U * levels + 1);
      EXPECT_LE(most, before + 256);
      EXPECT_EQ(open_descriptors(), before);
    }
    EXPECT_EQ(co_await tandem::io::remove_tree(folder / "deep"), 2U * levels + 1);
    EXPECT_EQ(folder.entries(), 0U);
  });
}

/// What was found in it refers to what is above it: neither a step of its end may be deeper for
/// each of them, nor a look at one of them longer.
TEST(unix_walk, a_tree_of_many_levels_is_walked_also_where_links_and_devices_are_looked_at) {
  const temporary_folder folder(temporary_folder::in_memory());
  constexpr int levels = 10'000;
  int here = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < levels && here >= 0; ++i) {
    (void)::mkdirat(here, "d", 0700);
    const int next = ::openat(here, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(std::exchange(here, next));
  }
  ASSERT_GE(here, 0);
  ::close(here);
  tandem::test::test_runtime rt;
  tandem::io::install(*rt);
  rt.run([](std::string root) -> task<void> {
    const auto nothing = [](const walk_batch&) {};
    walk_options follow;
    follow.links = symlinks::follow;
    EXPECT_EQ((co_await walk(root, nothing, follow)).directories, levels + 1U);
    walk_options stay;
    stay.stays_on_device = true;
    EXPECT_EQ((co_await walk(root, nothing, stay)).directories, levels + 1U);
    EXPECT_EQ(co_await tandem::io::remove_tree(root + "/d"), std::uint64_t{levels});
  }(folder.path()));
}

TEST(unix_walk, a_circle_of_several_links_ends_and_what_several_lead_to_is_walked_for_each) {
  const temporary_folder folder(temporary_folder::in_memory());
  // Each leads to the other one; and both to what is in neither.
  for (const char* each : {"a", "b", "c"}) fs::create_directories(folder / each + "/in/it");
  fs::create_symlink("../../../b", folder / "a/in/it/to");
  fs::create_symlink("../../../a", folder / "b/in/it/to");
  fs::create_symlink("../c", folder / "a/side");
  fs::create_symlink("../c", folder / "b/side");
  on_every_home([&]() -> task<void> {
    walk_options follow;
    follow.links = symlinks::follow;
    const auto nothing = [](const walk_batch&) {};
    // The root and c: 4. By a: its 3, those of b, c twice; by b likewise.
    EXPECT_EQ((co_await walk(folder.path(), nothing, follow)).directories, 4U + 2 * (6 + 2 * 3));
    // Above where it began there is no circle yet: a itself is found once more.
    EXPECT_EQ((co_await walk(folder / "a/in", nothing, follow)).directories, 2U + 3 + 3 + 1 + 3);
  });
}

TEST(unix_walk, a_directory_that_is_removed_while_it_is_read_is_empty_from_then_on) {
  const temporary_folder folder(temporary_folder::in_memory());
  on_every_home([&]() -> task<void> {
    fs::create_directories(folder / "tree/sub");
    for (int i = 0; i < 3000; ++i) put(folder / ("tree/sub/f" + std::to_string(i)), {});
    std::atomic<bool> is_gone{false};
    const auto remove = [&](const walk_batch& found) {
      if (found.size() > 10 && !is_gone.exchange(true)) fs::remove_all(folder / "tree/sub");
    };
    walk_options options;
    options.batch_entries = 100;
    options.threads = 1;
    const walk_summary summary = co_await walk(folder / "tree", remove, options);
    EXPECT_TRUE(is_gone);
    EXPECT_GT(summary.entries, 10U);
    directory open = co_await directory::open(folder / "tree");
    fs::remove(folder / "tree");
    auto reader = open.list();
    EXPECT_FALSE(co_await reader.next());
  });
}

}  // namespace
