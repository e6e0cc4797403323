// resize_leased_files_test.cpp: completion threads that come and go, while files that somebody has leased are being opened.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <tandem/io/file.hpp>
#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <thread>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "io/support/lease.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_pool;
using tandem::io::file;
using tandem::test::pattern;
using tandem::test::temporary_folder;
using tandem::test::test_runtime;
using tandem::test::threads_between;

/// Runs until everything that `pool` retires is gone.
void wait_for_threads(completion_pool& pool, unsigned count) {
  while (pool.stats().threads != count) std::this_thread::sleep_for(1ms);
}

constexpr std::size_t many_files = 64;

TEST(resize, files_that_are_being_opened_go_on_by_another_thread) {
  const temporary_folder folder;
  tandem::test::put(folder / "f", pattern(10, 1));
  tandem::test::lease held(folder / "f");
  if (!held.is_held()) GTEST_SKIP() << "no leases in " << folder.path();
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 3));
  pool.resize(3);
  std::atomic<std::size_t> opened{0};
  std::vector<tandem::join_handle<void>> all;
  for (unsigned i = 0; i < many_files; ++i) {
    all.push_back(rt->spawn(pool.thread(i % 3).executor(),
                            [](std::string path, std::atomic<std::size_t>& count) -> task<void> {
                              const file got = co_await file::open(path);
                              EXPECT_TRUE(got.is_open());
                              count.fetch_add(1);
                            }(folder / "f", opened)));
  }
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(2ms);  // so that some of them are with threads of the kernel
    pool.resize(1);
    wait_for_threads(pool, 1);
    pool.resize(3);
  }
  EXPECT_EQ(opened.load(), 0U);
  held.end();
  for (auto& each : all) each.wait();
  EXPECT_EQ(opened.load(), many_files);
}

}  // namespace
