// registered_buffer_test.cpp: transfers of registered buffers, as those of any others.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <tandem/as_result.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/registered_buffer.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "io/support/direct_support.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "seeded.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::registered_buffer;
using tandem::io::registered_bytes;
using tandem::test::are_equal;
using tandem::test::on_every_home;
using tandem::test::open_past_cache;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::temporary_folder;

constexpr std::size_t unit = 4096;

class registered : public ::testing::Test {
 protected:
  registered() { put(path_, whole_); }
  std::span<const std::byte> part(std::size_t at, std::size_t size) const {
    return std::span(whole_).subspan(at, size);
  }

  temporary_folder folder_;
  const std::string path_ = folder_ / "f";
  const std::vector<std::byte> whole_ = pattern(std::size_t{1} << 20, 9);
};

TEST_F(registered, what_is_read_at_many_offsets_into_many_parts_is_what_is_there) {
  const std::uint64_t seed = tandem::test::stress_seed();
  on_every_home([&]() -> task<void> {
    std::mt19937_64 dice(seed);
    file source = co_await open_past_cache(path_);
    registered_buffer block(64 * unit, unit);
    for (int round = 0; round < 200; ++round) {
      const std::size_t size = (1 + dice() % 16) * unit;
      const std::size_t at = dice() % (whole_.size() / unit - 16) * unit;
      const registered_bytes room = block.bytes(dice() % 48 * unit, size);
      EXPECT_EQ(co_await source.read_at(room, at), size);
      EXPECT_TRUE(are_equal(room.data(), part(at, size))) << at;
    }
  });
}

TEST_F(registered, what_is_written_from_a_part_is_there) {
  on_every_home([&]() -> task<void> {
    const std::string path = folder_ / "written";
    put(path, std::vector<std::byte>(32 * unit));
    file target = co_await open_past_cache(path, tandem::io::open_mode::read_write);
    registered_buffer block(16 * unit, unit);
    std::ranges::copy(part(0, block.size()), block.data());
    co_await target.write_all_at(block.bytes(), 8 * unit);
    const registered_buffer& only_read = block;
    EXPECT_EQ(co_await target.write_at(only_read.bytes(unit, 2 * unit), 0), 2 * unit);
    EXPECT_EQ(only_read.bytes().slot(), block.bytes().slot());
    co_await target.write_all_at(only_read.bytes(3 * unit, unit), 2 * unit);
    co_await target.read_exactly_at(block.bytes(8 * unit, 4 * unit), 8 * unit);
    EXPECT_TRUE(are_equal(block.data() + 8 * unit, part(0, 4 * unit)));
    const std::string found = tandem::test::get(path);
    const auto bytes = tandem::io::bytes_of(found);
    EXPECT_TRUE(are_equal(bytes.data(), part(unit, 3 * unit)));
    EXPECT_TRUE(are_equal(bytes.data() + 8 * unit, part(0, 16 * unit)));
  });
}

TEST_F(registered, a_read_past_the_end_is_short_and_one_that_is_to_fill_its_part_fails) {
  put(path_, part(0, 3 * unit + 100));
  on_every_home([&]() -> task<void> {
    file source = co_await open_past_cache(path_);
    registered_buffer block(8 * unit, unit);
    EXPECT_EQ(co_await source.read_at(block.bytes(), 0), 3 * unit + 100);
    EXPECT_TRUE(are_equal(block.data(), part(0, 3 * unit + 100)));
    EXPECT_EQ(co_await source.read_at(block.bytes(), 8 * unit), 0U);
    EXPECT_EQ(co_await source.read_at(block.bytes(0, 0), 0), 0U);
    EXPECT_EQ((co_await as_result(source.read_exactly_at(block.bytes(), 0))).error(),
              tandem::io::stream_errc::unexpected_end);
  });
}

TEST_F(registered, a_buffer_in_place_of_one_that_has_ended_is_not_taken_for_it) {
  constexpr std::size_t size = std::size_t{33} << 20;  // longer than what allocators keep
  on_every_home([&]() -> task<void> {
    file source = co_await open_past_cache(path_);
    for (std::size_t round = 0; round < 4; ++round) {
      registered_buffer block(size, unit);
      EXPECT_EQ(co_await source.read_at(block.bytes(0, unit), round * unit), unit);
      EXPECT_TRUE(are_equal(block.data(), part(round * unit, unit))) << round;
    }
  });
}

TEST_F(registered, a_buffer_that_has_moved_is_the_same_one) {
  on_every_home([&]() -> task<void> {
    file source = co_await open_past_cache(path_);
    registered_buffer first(2 * unit, unit);
    const registered_bytes part_of_it = first.bytes(unit, unit);
    EXPECT_EQ(co_await source.read_at(first.bytes(0, unit), 0), unit);
    registered_buffer second = std::move(first);
    EXPECT_EQ(first.size(), 0U);  // NOLINT: that is the law
    EXPECT_EQ(co_await source.read_at(part_of_it, unit), unit);
    registered_buffer third(unit, unit);
    EXPECT_EQ(co_await source.read_at(third.bytes(), 2 * unit), unit);
    third = std::move(second);
    EXPECT_EQ(second.size(), 0U) << "what the other one had has ended";  // NOLINT
    EXPECT_FALSE(second.bytes().has_slot());                             // NOLINT
    EXPECT_TRUE(are_equal(third.data(), part(0, 2 * unit)));
    EXPECT_EQ(co_await source.read_at(third.bytes(), 4 * unit), 2 * unit);
    EXPECT_TRUE(are_equal(third.data(), part(4 * unit, 2 * unit)));
    EXPECT_EQ(co_await source.read_at(registered_buffer().bytes(), 0), 0U);
  });
}

TEST_F(registered, more_buffers_than_can_be_registered_are_read_into_all_the_same) {
  on_every_home([&]() -> task<void> {
    file source = co_await open_past_cache(path_);
    std::vector<registered_buffer> many;
    while (many.size() < 1040) many.emplace_back(unit, unit);
    EXPECT_FALSE(many.back().bytes().has_slot());
    for (std::size_t i = 0; i < many.size(); i += i < 1000 ? 50 : 1) {
      const std::size_t at = i % 256 * unit;
      EXPECT_EQ(co_await source.read_at(many[i].bytes(), at), unit);
      EXPECT_TRUE(are_equal(many[i].data(), part(at, unit))) << i;
    }
    many.clear();
    EXPECT_TRUE(registered_buffer(unit).bytes().has_slot());
  });
}

TEST_F(registered, what_is_not_aligned_fails_with_the_text_of_a_plain_transfer) {
  on_every_home([&]() -> task<void> {
    file source = co_await open_past_cache(path_);
    const std::size_t needed = source.direct_io_alignment();
    tandem::io::aligned_buffer plain(needed, needed);
    registered_buffer block(needed, needed);
    const std::string expected =
        co_await tandem::test::failure_of(source.read_at(plain.bytes(), 1));
    EXPECT_EQ(co_await tandem::test::failure_of(source.read_at(block.bytes(), 1)), expected);
    EXPECT_THROW(registered_buffer(unit, 3), std::invalid_argument);
  });
}

TEST_F(registered, on_a_file_in_the_page_cache_it_is_a_buffer_like_any_other) {
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(path_);
    registered_buffer block(300'000);
    EXPECT_EQ(co_await source.read_at(block.bytes(7, 200'001), 13), 200'001U);
    EXPECT_TRUE(are_equal(block.data() + 7, part(13, 200'001)));
    tandem::test::drop_from_cache(path_);
    EXPECT_EQ(co_await source.read_at(block.bytes(), 1), 300'000U);
    EXPECT_TRUE(are_equal(block.data(), part(1, 300'000)));
  });
}

TEST_F(registered, a_stop_before_a_transfer_ends_it_and_nothing_is_done) {
  on_every_home([&]() -> task<void> {
    file source = co_await open_past_cache(path_, tandem::io::open_mode::read_write);
    registered_buffer block(unit, unit);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      EXPECT_TRUE((co_await as_result(source.read_at(block.bytes(), 0))).is_cancelled());
      EXPECT_TRUE((co_await as_result(source.write_at(block.bytes(), 0))).is_cancelled());
    });
  });
  const std::string found = tandem::test::get(path_);
  EXPECT_TRUE(are_equal(tandem::io::bytes_of(found).data(), whole_));
}

/// Into one buffer until it is stopped, and every third time into a new one.
task<void> read_until_stopped(file& source, const std::vector<std::byte>& whole,
                              std::mt19937_64 dice) {
  registered_buffer block(8 * unit, unit);
  while (true) {
    if (dice() % 3 == 0) block = registered_buffer(8 * unit, unit);
    const std::size_t at = dice() % (whole.size() / unit - 8) * unit;
    auto got = co_await as_result(source.read_at(block.bytes(), at));
    if (!got) {
      EXPECT_TRUE(got.is_cancelled()) << got.error().message();
      co_return;
    }
    EXPECT_TRUE(are_equal(block.data(), std::span(whole).subspan(at, got.value()))) << at;
    if (got.value() != block.size()) {
      EXPECT_TRUE(tandem::stop_requested());
      co_return;
    }
  }
}

TEST_F(registered, a_stop_that_races_with_reads_ends_them_and_no_byte_is_wrong) {
  const std::uint64_t seed = tandem::test::stress_seed();
  on_every_home([&]() -> task<void> {
    std::mt19937_64 dice(seed);
    file source = co_await open_past_cache(path_);
    for (int round = 0; round < 10; ++round) {
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < 4; ++i) {
          scope.spawn(read_until_stopped(source, whole_, std::mt19937_64(dice())));
        }
        co_await tandem::sleep_for(std::chrono::microseconds(dice() % 2000));
        scope.request_stop();
      });
    }
  });
}

/// Its own buffers come and go, and one is everybody's, each of whom has a part.
task<void> read_here(file& source, registered_bytes shared, const std::vector<std::byte>& whole,
                     std::mt19937_64 dice) {
  for (int round = 0; round < 40; ++round) {
    const std::size_t at = dice() % (whole.size() / unit - 4) * unit;
    EXPECT_EQ(co_await source.read_at(shared, at), shared.size());
    EXPECT_TRUE(are_equal(shared.data(), std::span(whole).subspan(at, shared.size())));
    registered_buffer own(unit, unit);
    EXPECT_EQ(co_await source.read_at(own.bytes(), at), unit);
    EXPECT_TRUE(are_equal(own.data(), std::span(whole).subspan(at, unit)));
  }
}

TEST_F(registered, eight_threads_share_a_buffer_and_end_others_meanwhile) {
  constexpr unsigned threads = 8;
  const std::uint64_t seed = tandem::test::stress_seed();
  tandem::test::test_runtime rt;
  auto& pool = tandem::io::install(*rt, tandem::test::threads_between(threads, threads));
  rt.run([&]() -> task<void> {
    file source = co_await open_past_cache(path_);
    registered_buffer shared(threads * 4 * unit, unit);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (unsigned i = 0; i < threads; ++i) {
        const registered_bytes mine = shared.bytes(i * 4 * unit, 4 * unit);
        scope.spawn(pool.thread(i).executor(),
                    read_here(source, mine, whole_, std::mt19937_64(seed + i)));
      }
      co_return;
    });
  }());
}

}  // namespace
