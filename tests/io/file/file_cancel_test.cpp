// file_cancel_test.cpp: stops, the await budget, and who owns a file's descriptor.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::native_descriptor;
using tandem::io::no_descriptor;
using tandem::io::open_mode;
using tandem::io::open_options;
using tandem::test::bytes_of;
using tandem::test::drop_from_cache;
using tandem::test::is_inherited;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::temporary_folder;
using tandem::test::test_runtime;

TEST(file, a_stop_before_the_call_ends_it_and_nothing_is_done) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file both = co_await file::open(folder / "f", open_mode::read_write);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      std::array<std::byte, 8> room{};
      EXPECT_TRUE((co_await as_result(both.read_at(room, 0))).is_cancelled());
      EXPECT_TRUE((co_await as_result(both.write_at(room, 0))).is_cancelled());
      EXPECT_TRUE((co_await as_result(both.append(room))).is_cancelled());
      EXPECT_TRUE((co_await as_result(both.truncate(0))).is_cancelled());
      EXPECT_TRUE((co_await as_result(both.sync())).is_cancelled());
      EXPECT_TRUE((co_await as_result(both.status())).is_cancelled());
      EXPECT_TRUE((co_await as_result(file::open(folder / "f"))).is_cancelled());
      try {
        (void)co_await both.read_at(room, 0);
        ADD_FAILURE() << "it was read";
      } catch (const tandem::operation_cancelled& stopped) {
        EXPECT_EQ(stopped.reason(), tandem::stop_reason::user);
      }
    });
    EXPECT_EQ(tandem::test::get(folder / "f"), "contents");
  });
}

task<void> read_without_end(file& source, std::vector<std::byte>& room, std::atomic<long>& rounds) {
  while (true) {
    co_await source.read_exactly_at(room, 0);
    ++rounds;
  }
}

TEST(file, a_loop_of_cached_reads_leaves_room_for_others_and_hears_of_its_stop) {
  const temporary_folder folder;
  put(folder / "f", pattern(4096, 1));
  test_runtime rt(1);  // one worker: whoever does not give way keeps it
  rt.run([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    std::vector<std::byte> room(100);
    std::atomic<long> rounds{0};
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(read_without_end(source, room, rounds));
      while (rounds == 0) co_await tandem::yield();
      const long before = rounds;
      co_await tandem::yield();
      EXPECT_LE(rounds - before, 1000);
      scope.request_stop();
    });
  }());
}

/// Reads what is not in the cache, or past it, again and again; whatever comes is right.
task<void> read_until_stopped(file& source, const std::vector<std::byte>& whole, std::size_t unit,
                              std::mt19937_64 dice) {
  tandem::io::aligned_buffer room(8 * unit, unit);
  while (true) {
    const std::size_t at = dice() % (whole.size() / unit - 8) * unit;
    auto got = co_await as_result(source.read_at(room.bytes(), at));
    if (!got) {
      EXPECT_TRUE(got.is_cancelled()) << got.error().message();
      co_return;
    }
    const std::size_t count = got.value();
    EXPECT_EQ(std::memcmp(room.data(), whole.data() + at, count), 0);
    if (count != room.size()) {
      EXPECT_TRUE(tandem::stop_requested());
      co_return;
    }
  }
}

TEST(file, a_stop_that_races_with_reads_ends_them_and_no_byte_is_wrong) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(1U << 20, 2);
  put(folder / "f", whole);
  const std::uint64_t seed = tandem::test::stress_seed();
  on_every_home([&]() -> task<void> {
    std::mt19937_64 dice(seed);
    for (int round = 0; round < 20; ++round) {
      drop_from_cache(folder / "f");
      open_options options;
      options.direct = round % 2 == 0;
      auto opened = co_await as_result(file::open(folder / "f", options));
      if (!opened && options.direct) continue;
      file source = std::move(opened).value();
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < 4; ++i) {
          scope.spawn(read_until_stopped(source, whole, 4096, std::mt19937_64(dice())));
        }
        co_await tandem::sleep_for(std::chrono::microseconds(dice() % 2000));
        scope.request_stop();
      });
    }
  });
}

constexpr std::size_t long_part = std::size_t{4} << 20;

TEST(file, a_stop_ends_a_long_transfer_between_two_parts_and_what_is_done_counts) {
  const temporary_folder folder;
  constexpr std::size_t parts = 16'000;
  tandem::test::put_zeros(folder / "zeros", std::uint64_t{parts} * long_part);
  on_every_home([&]() -> task<void> {
    file zeros = co_await file::open(folder / "zeros");
    std::vector<std::byte> room(long_part, std::byte{1});
    const std::vector<std::span<std::byte>> list(parts, std::span<std::byte>(room));
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      tandem::event begun;
      scope.spawn([](file& f, const auto& rooms, tandem::event& e) -> task<void> {
        e.set();
        auto got = co_await as_result(f.read_at(rooms, 0));  // would take many seconds
        EXPECT_TRUE(got ? got.value() < rooms.size() * rooms[0].size() : got.is_cancelled());
      }(zeros, list, begun));
      co_await begun.wait();
      co_await tandem::sleep_for(1ms);  // in the midst of it by then, most likely
      scope.request_stop();
    });
    EXPECT_TRUE(room.front() == std::byte{0} || room.front() == std::byte{1});
  });
}

TEST(file, the_examples_of_the_headers_do_what_they_say) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    const std::string text = "settings";
    co_await tandem::io::write_file(folder / "f", text);
    const auto source = co_await tandem::io::read_file(folder / "f");
    EXPECT_EQ(source, text);
    auto log = co_await file::open(folder / "f", open_options::append_to());
    co_await log.append(bytes_of(", more"));
    auto whole = co_await file::open(folder / "f");
    std::string seen;
    tandem::io::aligned_buffer block(4, whole.direct_io_alignment());
    for (std::uint64_t at = 0; const std::size_t n = co_await whole.read_at(block.bytes(), at);
         at += n) {
      seen.append(reinterpret_cast<const char*>(block.data()), n);  // NOLINT
    }
    EXPECT_EQ(seen, "settings, more");
    const tandem::io::file_status found = co_await whole.status();
    EXPECT_FALSE(found.allocated_bytes < found.size);
  });
}

tandem::test::any_handle as_handle(native_descriptor descriptor) {
  return static_cast<tandem::test::any_handle>(descriptor);
}

TEST(file, descriptors_are_closed_once_and_not_inherited) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file first = co_await file::open(folder / "f", open_mode::read_write);
    co_await first.sync();  // whatever a backend needs is there now
    const std::size_t before = tandem::test::open_descriptors();
    {
      file second = co_await file::open(folder / "f");
      EXPECT_FALSE(is_inherited(as_handle(second.native_handle())));
      EXPECT_EQ(second.path(), folder / "f");
      file third = std::move(second);
      EXPECT_FALSE(second.is_open());  // NOLINT: that is the law
      EXPECT_TRUE(third.is_open());
      third = co_await file::open(folder / "f");
      // Wine counts none at all.
      EXPECT_EQ(tandem::test::open_descriptors(), before == 0 ? 0 : before + 1);
      const native_descriptor kept = third.release();
      EXPECT_FALSE(third.is_open());
      EXPECT_EQ(third.release(), no_descriptor);
      tandem::test::let_inherit(as_handle(kept));
      file fourth = file::from_native(kept, "kept");
      EXPECT_FALSE(is_inherited(as_handle(kept)));
      std::array<std::byte, 8> room{};
      EXPECT_EQ(co_await fourth.read_at(room, 0), 8U);
      {
        [[maybe_unused]] auto dropped = file::open(folder / "f");
        [[maybe_unused]] auto moved = std::move(dropped);
      }
    }
    EXPECT_EQ(tandem::test::open_descriptors(), before);
    EXPECT_THROW((void)file::from_native(no_descriptor), std::system_error);
  });
}

TEST(file_death, closing_a_file_with_an_operation_in_flight_is_refused) {
  const temporary_folder folder;
  constexpr std::size_t parts = 16'000;
  tandem::test::put_zeros(folder / "zeros", std::uint64_t{parts} * long_part);
  EXPECT_DEATH(
      {
        test_runtime rt;
        rt.run([&]() -> task<void> {
          file zeros = co_await file::open(folder / "zeros");
          std::vector<std::byte> room(long_part);
          const std::vector<std::span<std::byte>> list(parts, std::span<std::byte>(room));
          std::atomic<bool> begins{false};
          auto reading =
              tandem::spawn([](file& f, const auto& rooms, std::atomic<bool>& told) -> task<void> {
                told = true;
                (void)co_await f.read_at(rooms, 0);  // 64 GB
              }(zeros, list, begins));
          while (!begins) co_await tandem::yield();
          co_await tandem::sleep_for(200ms);
          zeros.close();
        }());
      },
      "in flight");
}

}  // namespace
