// resize_files_test.cpp: completion threads that come and go, with files under way on them.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <tandem/io/file.hpp>
#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
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
using tandem::io::open_options;
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

/// Writes, syncs and reads its own part of `shared`, and leaves records in `log`.
task<void> works_on_files(file& shared, file& log, std::size_t number) {
  constexpr std::size_t bytes_each = 8192;
  std::vector<std::byte> got(bytes_each);
  for (unsigned round = 0; round < 4; ++round) {
    const std::vector<std::byte> bytes = pattern(bytes_each, static_cast<unsigned>(number) + round);
    const std::uint64_t at = number * bytes_each;
    co_await shared.write_all_at(bytes, at);
    if (round == number % 4) co_await shared.sync_data();
    // What is no longer in memory is read by the ring.
    (void)::posix_fadvise(shared.native_handle(), static_cast<off_t>(at), bytes_each,
                          POSIX_FADV_DONTNEED);
    EXPECT_EQ(co_await shared.read_at(got, at), bytes_each);
    EXPECT_TRUE(got == bytes);
    co_await log.append(std::span(bytes).first(100));
  }
}

TEST(resize, transfers_of_files_are_done_once_each) {
  const temporary_folder folder;
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 3));
  std::atomic<bool> enough{false};
  std::jthread resizes([&] {
    for (unsigned round = 0; !enough.load(); ++round) {
      pool.resize(1 + round % 3);
      std::this_thread::sleep_for(200us);
    }
  });
  rt.run([](completion_pool& io, std::string path) -> task<void> {
    open_options options = open_options::overwrite();
    options.mode = tandem::io::open_mode::read_write;
    file shared = co_await file::open(path + "/shared", options);
    file log = co_await file::open(path + "/log", options);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (unsigned i = 0; i < many_files; ++i) {
        tandem::executor& home = i % 4 == 3 ? io.executor() : io.thread(i % 4).executor();
        scope.spawn(home, works_on_files(shared, log, i));
      }
      co_return;
    });
    EXPECT_EQ((co_await log.status()).size, many_files * 4 * 100);
  }(pool, folder.path()));
  enough.store(true);
}

}  // namespace
