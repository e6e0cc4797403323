// file_test.cpp: opening, reading, writing and asking files.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/file.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "seeded.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::file_kind;
using tandem::io::file_status;
using tandem::io::open_mode;
using tandem::io::open_options;
using tandem::test::bytes_of;
using tandem::test::drop_from_cache;
using tandem::test::failure_of;
using tandem::test::get;
using tandem::test::new_file;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::temporary_folder;

using parts = std::vector<std::span<const std::byte>>;
using rooms = std::vector<std::span<std::byte>>;

TEST(file, a_read_is_short_at_the_end_only) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(100'000, 1);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    std::vector<std::byte> got(200'000);
    EXPECT_EQ(co_await source.read_at(got, 0), whole.size());
    EXPECT_TRUE(std::equal(whole.begin(), whole.end(), got.begin()));
    EXPECT_EQ(co_await source.read_at(std::span(got).first(10), 99'995), 5U);
    EXPECT_EQ(std::memcmp(got.data(), whole.data() + 99'995, 5), 0);
    EXPECT_EQ(co_await source.read_at(got, 100'000), 0U);
    EXPECT_EQ(co_await source.read_at(got, std::uint64_t{1} << 40), 0U);
    EXPECT_EQ(co_await source.read_at({}, 0), 0U);
    co_await source.read_exactly_at(std::span(got).first(10), 99'990);
    EXPECT_EQ(
        (co_await as_result(source.read_exactly_at(std::span(got).first(11), 99'990))).error(),
        tandem::io::stream_errc::unexpected_end);
  });
}

TEST(file, what_is_not_in_the_page_cache_is_read_whole) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(3'000'000, 2);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    drop_from_cache(folder / "f");
    file source = co_await file::open(folder / "f");
    std::vector<std::byte> got(4096);
    EXPECT_EQ(co_await source.read_at(got, 1'000'000), 4096U);  // brings a part into the cache
    EXPECT_EQ(std::memcmp(got.data(), whole.data() + 1'000'000, 4096), 0);
    std::vector<std::byte> small(500'000);
    EXPECT_EQ(co_await source.read_at(small, 900'000), small.size());
    EXPECT_EQ(std::memcmp(small.data(), whole.data() + 900'000, small.size()), 0);
    std::vector<std::byte> all(whole.size());  // more than is read in place
    co_await source.read_exactly_at(all, 0);
    EXPECT_EQ(all, whole);
  });
}

TEST(file, any_number_of_buffers_of_any_size_is_transferred_in_order) {
  const temporary_folder folder;
  std::mt19937_64 dice(tandem::test::stress_seed());
  on_every_home([&]() -> task<void> {
    file both = co_await file::open(folder / "f", new_file());
    for (const std::size_t count : {0U, 1U, 2U, 15U, 16U, 17U, 33U, 2000U}) {
      std::vector<std::vector<std::byte>> pieces(count);
      std::vector<std::byte> whole;
      parts sent;
      for (auto& piece : pieces) {
        piece = pattern(dice() % 4 == 0 ? 0 : dice() % 3000, static_cast<unsigned>(dice()));
        sent.push_back(piece);
        whole.insert(whole.end(), piece.begin(), piece.end());
      }
      const std::uint64_t at = dice() % 10'000;
      co_await both.write_all_at(sent, at);
      rooms got;
      for (auto& piece : pieces) {
        std::fill(piece.begin(), piece.end(), std::byte{0});
        got.push_back(piece);
      }
      co_await both.read_exactly_at(got, at);
      std::vector<std::byte> joined;
      for (const auto& piece : pieces) joined.insert(joined.end(), piece.begin(), piece.end());
      EXPECT_EQ(joined, whole);
      co_await both.truncate(at + whole.size());
      std::array<std::byte, 10> beyond{};
      got.emplace_back(beyond);
      EXPECT_EQ(co_await both.read_at(got, at), whole.size());
    }
  });
}

TEST(file, holes_are_zeros_and_offsets_have_64_bits) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    tandem::test::put_zeros(folder / "f", 0);
    file both = co_await file::open(folder / "f", open_mode::read_write);
    const std::uint64_t far = (std::uint64_t{5} << 30) + 7;
    co_await both.write_all_at(bytes_of("far"), far);
    const file_status found = co_await both.status();
    EXPECT_EQ(found.size, far + 3);
    EXPECT_LT(found.allocated_bytes, 1'000'000U);
    std::vector<std::byte> got(100, std::byte{1});
    EXPECT_EQ(co_await both.read_at(got, far - 50), 53U);
    EXPECT_TRUE(
        std::all_of(got.begin(), got.begin() + 50, [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_EQ(std::memcmp(got.data() + 50, "far", 3), 0);
    for (const std::uint64_t none : {~std::uint64_t{0}, std::uint64_t{1} << 63}) {
      EXPECT_EQ((co_await as_result(both.read_at(got, none))).error(), std::errc::invalid_argument);
      EXPECT_EQ((co_await as_result(both.write_at(got, none))).error(),
                std::errc::invalid_argument);
      EXPECT_EQ((co_await as_result(both.truncate(none))).error(), std::errc::invalid_argument);
    }
  });
}

TEST(file, appends_of_many_tasks_are_in_one_piece_each) {
  const temporary_folder folder;
  constexpr std::size_t tasks = 8;
  constexpr int records = 20;
  on_every_home([&]() -> task<void> {
    {
      // Of two opens, as two processes would do it.
      file one = co_await file::open(folder / "f", open_options::append_to());
      file other = co_await file::open(folder / "f", open_mode::write);
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (std::size_t i = 0; i < tasks; ++i) {
          scope.spawn([](file& out, std::size_t who) -> task<void> {
            const std::string record(1000 + 777 * who, static_cast<char>('a' + who));
            for (int n = 0; n < records; ++n) co_await out.append(bytes_of(record + "\n"));
          }(i % 2 == 0 ? one : other, i));
        }
        co_return;
      });
    }
    std::array<int, tasks> seen{};
    std::istringstream in(get(folder / "f"));
    for (std::string line; std::getline(in, line);) {
      const auto who = static_cast<std::size_t>(line.at(0) - 'a');
      EXPECT_EQ(line, std::string(1000 + 777 * who, line[0]));
      ++seen.at(who);
    }
    for (const int count : seen) EXPECT_EQ(count, records);
    std::filesystem::remove(folder / "f");
  });
}

TEST(file, appends_of_two_opens_that_take_turns_go_to_the_end) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    {
      file one = co_await file::open(folder / "f", open_options::append_to());
      file other = co_await file::open(folder / "f", open_mode::write);
      for (const char* pair : {"ab", "cd", "ef"}) {
        co_await one.append(bytes_of(std::string_view(pair, 1)));
        co_await other.append(bytes_of(std::string_view(pair + 1, 1)));
      }
    }
    EXPECT_EQ(get(folder / "f"), "abcdef");
    std::filesystem::remove(folder / "f");
  });
}

TEST(file, direct_transfers_that_are_aligned_are_made) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    open_options direct = new_file();
    direct.direct = true;
    auto opened = co_await as_result(file::open(folder / "f", direct));
    if (opened.error() == std::errc::invalid_argument) {
      std::printf("not here: %s has no direct I/O\n", folder.path().c_str());
      co_return;
    }
    file both = std::move(opened).value();
    const std::size_t unit = both.direct_io_alignment();
    EXPECT_TRUE(unit >= 1 && (unit & (unit - 1)) == 0);
    tandem::io::aligned_buffer sent(16 * unit, unit);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(sent.data()) % unit, 0U);
    const std::vector<std::byte> bytes = pattern(sent.size(), 4);
    std::copy(bytes.begin(), bytes.end(), sent.data());
    co_await both.write_all_at(sent.bytes(), 2 * unit);
    co_await both.sync_data();
    tandem::io::aligned_buffer got(18 * unit, unit);
    EXPECT_EQ(co_await both.read_at(got.bytes(), 0), got.size());
    EXPECT_EQ(std::memcmp(got.data() + 2 * unit, bytes.data(), bytes.size()), 0);
    co_await both.truncate(2 * unit + 100);
    EXPECT_EQ(co_await both.read_at(got.bytes(), unit), unit + 100);
    EXPECT_EQ((co_await as_result(both.read_exactly_at(got.bytes(), unit))).error(),
              tandem::io::stream_errc::unexpected_end);
  });
}

TEST(file, options_that_contradict_each_other_are_refused_at_once) {
  open_options options(open_mode::read);
  options.truncate = true;
  EXPECT_THROW((void)file::open("f", options), std::invalid_argument);
  options = open_options(open_mode::write);
  options.exclusive = true;
  EXPECT_THROW((void)file::open("f", options), std::invalid_argument);
}

TEST(file, failures_name_the_file_and_what_was_tried) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    EXPECT_EQ((co_await as_result(file::open(folder / "none"))).error(),
              std::errc::no_such_file_or_directory);
    const std::string unknown = co_await failure_of(file::open(folder / "none"));
    EXPECT_TRUE(unknown.starts_with("file::open \"" + folder / "none" + "\": ")) << unknown;
    open_options fresh = new_file();
    fresh.exclusive = true;
    EXPECT_EQ((co_await as_result(file::open(folder / "f", fresh))).error(),
              std::errc::file_exists);
    EXPECT_TRUE((co_await as_result(file::open(folder.path(), new_file()))).error());
    EXPECT_EQ((co_await as_result(file::open(std::string("a\0b", 3)))).error(),
              std::errc::invalid_argument);
    std::array<std::byte, 10> got{};
    file directory = co_await file::open(folder.path());
    const std::string no_file = co_await failure_of(directory.read_at(got, 5));
    EXPECT_TRUE(no_file.starts_with("file::read_at \"" + folder.path() + "\" at offset 5: "))
        << no_file;
    file readable = co_await file::open(folder / "f");
    const std::string no_right = co_await failure_of(readable.write_all_at(got, 0));
    EXPECT_TRUE(no_right.starts_with("file::write_at \"" + folder / "f" + "\" at offset 0"))
        << no_right;
    const std::string kept = co_await failure_of(readable.truncate(0));
    EXPECT_TRUE(kept.starts_with("file::truncate \"" + folder / "f" + "\": ")) << kept;
    file none;
    EXPECT_EQ((co_await as_result(none.read_at(got, 0))).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(none.status())).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(none.truncate(0))).error(), std::errc::bad_file_descriptor);
  });
  EXPECT_EQ(get(folder / "f"), "contents");
}

TEST(file, status_is_of_the_file_as_it_is) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("12345"));
  on_every_home([&]() -> task<void> {
    file both = co_await file::open(folder / "f", open_mode::read_write);
    const file_status found = co_await both.status();
    EXPECT_EQ(found.kind, file_kind::regular);
    EXPECT_EQ(found.size, 5U);
    EXPECT_EQ(found.links, 1U);
    EXPECT_EQ(found.inode, tandem::test::number_of_file(folder / "f"));
    const auto age = std::chrono::system_clock::now() - found.modified;
    EXPECT_LT(std::chrono::abs(age), std::chrono::hours(1));
    co_await both.truncate(100'000);
    EXPECT_EQ((co_await both.status()).size, 100'000U);
    co_await both.truncate(5);
    co_await both.sync();
    EXPECT_EQ(get(folder / "f"), "12345");
    const auto allocated = co_await as_result(both.allocate(0, 50'000));
    if (allocated) {
      EXPECT_EQ((co_await both.status()).size, 50'000U);
      co_await both.truncate(5);
    } else {
      EXPECT_EQ(allocated.error(), std::errc::operation_not_supported);
    }
    file directory = co_await file::open(folder.path());
    EXPECT_EQ((co_await directory.status()).kind, file_kind::directory);
  });
}

}  // namespace
