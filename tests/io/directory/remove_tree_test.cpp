// remove_tree_test.cpp: a tree is removed, and nothing but the tree, whoever is at it meanwhile.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <thread>

#include "io/support/as_nobody.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "loopback_ports.hpp"
#include "no_descriptors.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::directory;
using tandem::io::remove_tree;
using tandem::test::as_nobody;
using tandem::test::bytes_of;
using tandem::test::failure_of;
using tandem::test::get;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;

void make_tree(const std::string& root, int width, int depth) {
  fs::create_directory(root);
  put(root + "/f", bytes_of("contents"));
  for (int i = 0; depth > 0 && i < width; ++i) {
    make_tree(root + "/" + std::to_string(i), width, depth - 1);
  }
}

TEST(remove_tree, whatever_has_the_name_is_removed_and_counted) {
  const temporary_folder folder(temporary_folder::in_memory());
  on_every_home([&]() -> task<void> {
    make_tree(folder / "t", 3, 3);
    const auto before = open_descriptors();
    EXPECT_EQ(co_await remove_tree(folder / "t"), 2U * (1 + 3 + 9 + 27));
    EXPECT_EQ(open_descriptors(), before);
    put(folder / "f", bytes_of("contents"));
    EXPECT_EQ(co_await remove_tree(folder / "f"), 1U);
    EXPECT_EQ(co_await remove_tree(folder / "f"), 0U);
    EXPECT_EQ(folder.entries(), 0U);
  });
}

TEST(remove_tree, links_are_removed_and_never_followed_also_with_a_slash_behind_them) {
  const temporary_folder folder(temporary_folder::in_memory());
  const temporary_folder outside(temporary_folder::in_memory());
  put(outside / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    make_tree(folder / "t", 1, 1);
    fs::create_symlink(outside.path(), folder / "t/link");
    fs::create_symlink(outside.path(), folder / "link");
    co_await remove_tree(folder / "t");
    EXPECT_EQ(co_await remove_tree(folder / "link/"), 1U);
    EXPECT_EQ(folder.entries(), 0U);
    EXPECT_EQ(get(outside / "f"), "contents");
  });
}

TEST(remove_tree, what_no_directory_can_lose_is_refused_before_anything_is_removed) {
  const temporary_folder folder(temporary_folder::in_memory());
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    directory d = co_await directory::open(folder.path());
    for (const char* const path : {".", "..", "./", "f/..", "", "/"}) {
      EXPECT_EQ((co_await as_result(d.remove_tree(path))).error(), std::errc::invalid_argument)
          << path;
    }
    EXPECT_EQ(folder.entries(), 1U);
  });
}

TEST(remove_tree, a_failure_names_what_could_not_be_removed) {
  const temporary_folder folder(temporary_folder::in_memory());
  const auto remove_it = [&]() -> task<void> {
    make_tree(folder / "t", 1, 1);
    EXPECT_EQ(::chmod((folder / "t/0").c_str(), 0500), 0);
    EXPECT_EQ(
        co_await failure_of(remove_tree(folder / "t")),
        "remove_tree \"" + folder / "t" + "\": \"" + folder / "t/0/f" + "\": Permission denied");
    EXPECT_EQ(::chmod((folder / "t/0").c_str(), 0700), 0);
    co_await remove_tree(folder / "t");
  };
  as_nobody(folder.path(), [&] { on_every_home(remove_it); });
}

/// Exchanges a directory of the tree for a link that leads out of it, and back, as fast as it can.
class swapper {
 public:
  swapper(std::string victim, std::string link)
      : victim_(std::move(victim)), link_(std::move(link)), thread_([this] { run(); }) {}
  ~swapper() {
    ends_ = true;
    thread_.join();
  }

 private:
  void run() {
    while (!ends_) {
      // In one step, whatever is where.
      (void)::renameat2(AT_FDCWD, victim_.c_str(), AT_FDCWD, link_.c_str(), RENAME_EXCHANGE);
    }
  }

  const std::string victim_;
  const std::string link_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

TEST(remove_tree, whoever_exchanges_a_directory_for_a_link_loses_nothing_outside_of_the_tree) {
  const temporary_folder folder(temporary_folder::in_memory());
  const temporary_folder outside(temporary_folder::in_memory());
  make_tree(outside / "kept", 3, 2);
  const auto count = [&] {
    return std::distance(fs::recursive_directory_iterator(outside.path()),
                         fs::recursive_directory_iterator());
  };
  const auto all = count();
  on_every_home([&]() -> task<void> {
    for (int round = 0; round < 40; ++round) {
      make_tree(folder / "t", 4, 2);
      fs::create_symlink(outside / "kept", folder / "link");
      const auto before = open_descriptors();
      {
        const swapper hostile(folder / "t/1", folder / "link");
        // It may be moved away while it is emptied, and then counts as not empty.
        const auto removed = co_await as_result(remove_tree(folder / "t"));
        EXPECT_TRUE(removed || removed.error() == std::errc::directory_not_empty ||
                    removed.error() == std::errc::device_or_resource_busy)
            << removed.error().message();
      }
      EXPECT_EQ(open_descriptors(), before);
      EXPECT_EQ(count(), all);
      fs::remove_all(folder / "t");
      fs::remove_all(folder / "link");
    }
  });
}

TEST(remove_tree, a_stop_ends_it_between_two_entries) {
  const temporary_folder folder(temporary_folder::in_memory());
  on_every_home([&]() -> task<void> {
    for (int round = 0; round < 10; ++round) {
      make_tree(folder / "t", 4, 3);
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](std::string path) -> task<void> {
          const auto removed = co_await as_result(remove_tree(std::move(path)));
          EXPECT_TRUE(removed || removed.is_cancelled()) << removed.error().message();
        }(folder / "t"));
        co_await tandem::sleep_for(std::chrono::microseconds(100 * round));
        scope.request_stop();
      });
      co_await remove_tree(folder / "t");
    }
    EXPECT_EQ(folder.entries(), 0U);
  });
}

TEST(remove_tree, a_tree_that_is_deeper_than_descriptors_are_left_is_removed) {
  const temporary_folder folder(temporary_folder::in_memory());
  on_every_home([&]() -> task<void> {
    constexpr int levels = 50;
    std::string deep = folder / "deep";
    for (int i = 0; i < levels; ++i) deep += "/d";
    fs::create_directories(deep);
    put(deep + "/f", bytes_of("contents"));
    EXPECT_EQ(co_await remove_tree(folder / "deep/d"), levels + 1U);  // its thread is there
    fs::create_directories(deep);
    const tandem::test::no_descriptors all_but(8);
    EXPECT_EQ(co_await remove_tree(folder / "deep"), levels + 1U);
  });
}

}  // namespace
