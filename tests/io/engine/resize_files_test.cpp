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

constexpr std::size_t many_files = 64;

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
    tandem::test::drop_part_from_cache(
        static_cast<tandem::test::any_handle>(shared.native_handle()), at, bytes_each);
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
