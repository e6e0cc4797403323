// directory_stress.cpp: walks and removals that are stopped at any time leave no descriptor open.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/walk.hpp>
#include <tandem/spawn.hpp>
#include <utility>

#include "io/support/file_support.hpp"
#include "io_homes.hpp"
#include "loopback_ports.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::test::homes;

constexpr int width = 6;

/// 6 x 6 x 6 files, in 43 folders.
void plant(const std::string& root) {
  for (int i = 0; i < width; ++i) {
    for (int j = 0; j < width; ++j) {
      const std::string folder = root + "/" + std::to_string(i) + "/" + std::to_string(j);
      std::filesystem::create_directories(folder);
      for (int k = 0; k < width; ++k) {
        tandem::test::put(folder + "/" + std::to_string(k), tandem::io::bytes_of("x"));
      }
    }
  }
}

task<std::uint64_t> count_files(std::string root) {
  std::atomic<std::uint64_t> files = 0;
  const auto count = [&files](const tandem::io::walk_batch& found) {
    for (const auto entry : found) files += entry.kind() == tandem::io::file_kind::regular ? 1 : 0;
  };
  (void)co_await tandem::io::walk(std::move(root), count);
  co_return files.load();
}
task<std::uint64_t> list_names(std::string folder) {
  std::uint64_t names = 0;
  auto reader = tandem::io::list_directory(std::move(folder));
  while (co_await reader.next()) ++names;
  co_return names;
}
task<std::uint64_t> remove_all(std::string root) {
  co_return co_await tandem::io::remove_tree(std::move(root));
}

TEST(directory_race, stopped_walks_and_removals_leave_no_descriptor_open) {
  homes at;
  const tandem::test::temporary_folder folder;
  const std::string root = folder / "tree";
  std::size_t before = 0;
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    plant(root);
    at.rt.run([](homes& h, std::string tree, std::mt19937_64& dice) -> task<void> {
      auto walking = tandem::spawn(h.any(dice), count_files(tree));
      auto listing = tandem::spawn(h.any(dice), list_names(tree));
      co_await tandem::test::stop_at_some_time(walking, dice);
      co_await tandem::test::stop_at_some_time(listing, dice);
      const auto walked = co_await as_result(walking);
      const auto listed = co_await as_result(listing);
      if (walked) {
        EXPECT_EQ(walked.value(), std::uint64_t{width} * width * width);
      }
      if (listed) {
        EXPECT_EQ(listed.value(), std::uint64_t{width});
      }
      auto removing = tandem::spawn(h.any(dice), remove_all(tree));
      co_await tandem::test::stop_at_some_time(removing, dice);
      const auto removed = co_await as_result(removing);
      if (!removed) {
        EXPECT_TRUE(removed.is_cancelled());
      }
      (void)co_await remove_all(tree);  // the rest
    }(at, root, random));
    EXPECT_FALSE(std::filesystem::exists(root));
    if (before == 0) before = tandem::test::open_descriptors();
    EXPECT_EQ(tandem::test::open_descriptors(), before);
  });
}

}  // namespace
