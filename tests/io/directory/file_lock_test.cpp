// file_lock_test.cpp: locks exclude each other, also within a process, and go with their holder.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_lock.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <utility>
#include <vector>

#include "io/directory/lock_refusal.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::file_lock;
using tandem::io::lock_file;
using tandem::io::lock_mode;
using tandem::io::lock_range;
using tandem::io::open_mode;
using tandem::io::try_lock_file;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::refusal_of;
using tandem::test::starts_with;
using tandem::test::temporary_folder;

TEST(file_lock, an_exclusive_one_is_alone_and_shared_ones_are_together) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file first = co_await file::open(folder / "f", open_mode::read_write);
    file second = co_await file::open(folder / "f", open_mode::read_write);
    {
      const file_lock held = co_await lock_file(first);
      EXPECT_TRUE(held);
      EXPECT_FALSE(co_await try_lock_file(second));
      EXPECT_FALSE(co_await try_lock_file(second, lock_mode::shared));
    }
    file_lock one = co_await lock_file(first, lock_mode::shared);
    auto other = co_await try_lock_file(second, lock_mode::shared);
    EXPECT_TRUE(other);
    EXPECT_FALSE(co_await try_lock_file(second));
    one.unlock();
    EXPECT_FALSE(one);
    other.reset();
    EXPECT_TRUE(co_await try_lock_file(second));
  });
}

TEST(file_lock, parts_that_do_not_meet_are_locked_by_several) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file first = co_await file::open(folder / "f", open_mode::read_write);
    file second = co_await file::open(folder / "f", open_mode::read_write);
    const file_lock held = co_await lock_file(first, lock_mode::exclusive, lock_range(2, 3));
    EXPECT_TRUE(co_await try_lock_file(second, lock_mode::exclusive, lock_range(0, 2)));
    EXPECT_FALSE(co_await try_lock_file(second, lock_mode::exclusive, lock_range(4, 1)));
    EXPECT_TRUE(co_await try_lock_file(second, lock_mode::exclusive, lock_range(5, 0)));
    EXPECT_FALSE(co_await try_lock_file(second));
  });
}

TEST(file_lock, a_part_larger_than_a_file_can_be_ends_nowhere_and_begins_where_it_says) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file first = co_await file::open(folder / "f", open_mode::read_write);
    file second = co_await file::open(folder / "f", open_mode::read_write);
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX - 4095}) {
      const lock_range large(4096, bytes);
      file_lock held = co_await lock_file(first, lock_mode::exclusive, large);
      EXPECT_FALSE(co_await try_lock_file(second, lock_mode::exclusive, lock_range(4096, 1)));
      EXPECT_FALSE(co_await try_lock_file(second, lock_mode::exclusive, lock_range(1 << 30, 1)));
      EXPECT_TRUE(co_await try_lock_file(second, lock_mode::exclusive, lock_range(0, 4096)));
      held.unlock();
      EXPECT_TRUE(co_await try_lock_file(second)) << "it gives back what it has taken";
    }
  });
}

TEST(file_lock, who_waits_gets_it_when_it_is_free) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    int inside = 0;
    int rounds = 0;
    std::vector<task<void>> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back([](std::string path, int& in, int& count) -> task<void> {
        file own = co_await file::open(path, open_mode::read_write);
        for (int round = 0; round < 5; ++round) {
          const file_lock held = co_await lock_file(own);
          EXPECT_EQ(++in, 1);
          ++count;
          co_await tandem::sleep_for(100us);
          --in;
        }
      }(folder / "f", inside, rounds));
    }
    co_await tandem::when_all(std::move(all));
    EXPECT_EQ(rounds, 20);
  });
}

TEST(file_lock, a_wait_for_one_is_ended_by_a_stop_and_leaves_nothing_locked) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file first = co_await file::open(folder / "f", open_mode::read_write);
    file second = co_await file::open(folder / "f", open_mode::read_write);
    {
      const file_lock held = co_await lock_file(first);
      const auto waited = co_await as_result(tandem::with_timeout(5ms, lock_file(second)));
      EXPECT_TRUE(waited.is_cancelled());
    }
    EXPECT_TRUE(co_await try_lock_file(first));
  });
}

TEST(file_lock, what_is_refused_is_told_with_the_path) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file none;
    EXPECT_EQ((co_await as_result(lock_file(none))).error(), std::errc::bad_file_descriptor);
    EXPECT_TRUE(starts_with(co_await refusal_of(try_lock_file(none)),
                            "try_lock_file \"\" (the file is not open)"));
    file read = co_await file::open(folder / "f", open_mode::read);
    EXPECT_TRUE(starts_with(
        co_await refusal_of(try_lock_file(read, lock_mode::shared, lock_range(UINT64_MAX, 1))),
        "try_lock_file \"" + (folder / "f") + "\" (the part begins beyond"));
  });
}

TEST(file_lock, one_that_was_moved_from_holds_nothing) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file both = co_await file::open(folder / "f", open_mode::read_write);
    file_lock held = co_await lock_file(both);
    file_lock moved = std::move(held);
    EXPECT_FALSE(held);  // NOLINT: what a moved one is, is what is asked here
    EXPECT_TRUE(moved);
  });
}

}  // namespace
