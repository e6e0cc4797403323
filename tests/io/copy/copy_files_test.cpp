// copy_files_test.cpp: one file into another, and what a stream gives into a file.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "io/stream/scripted_stream.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::copy;
using tandem::io::copy_options;
using tandem::io::file;
using tandem::io::open_mode;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::temporary_folder;

constexpr std::size_t size = 9'000'001;  // more than one call copies

task<std::vector<std::byte>> contents(std::string path) {
  co_return co_await tandem::io::read_file_bytes(path);
}

TEST(copy_files, the_copy_is_the_same_and_is_counted) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 1);
  put(folder / "from", whole);
  on_every_home([&]() -> task<void> {
    file from = co_await file::open(folder / "from");
    file to = co_await file::open(folder / "to", tandem::test::new_file());
    copy_options options;
    std::uint64_t progress = 5;
    options.progress = &progress;
    EXPECT_EQ(co_await copy(from, to, options), size);
    EXPECT_EQ(progress, size + 5);
    EXPECT_EQ(co_await contents(folder / "to"), whole);
  });
}

TEST(copy_files, a_part_goes_where_it_is_wanted_and_the_rest_stays) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(300'000, 2);
  put(folder / "from", whole);
  on_every_home([&]() -> task<void> {
    put(folder / "to", pattern(300'000, 3));
    file from = co_await file::open(folder / "from");
    file to = co_await file::open(folder / "to", open_mode::read_write);
    copy_options options;
    options.from_offset = 1001;
    options.to_offset = 77;
    options.most_bytes = 200'000;
    EXPECT_EQ(co_await copy(from, to, options), 200'000U);
    std::vector<std::byte> wanted = pattern(300'000, 3);
    std::copy_n(whole.begin() + 1001, 200'000, wanted.begin() + 77);
    EXPECT_EQ(co_await contents(folder / "to"), wanted);
    options.from_offset = 400'000;
    EXPECT_EQ(co_await copy(from, to, options), 0U);
  });
}

TEST(copy_files, a_stop_before_it_begins_copies_nothing) {
  const temporary_folder folder;
  put(folder / "from", pattern(100'000, 2));
  on_every_home([&]() -> task<void> {
    file from = co_await file::open(folder / "from");
    file to = co_await file::open(folder / "to", tandem::test::new_file());
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      EXPECT_TRUE((co_await as_result(copy(from, to))).is_cancelled());
    });
    EXPECT_EQ((co_await to.status()).size, 0U);
  });
}

TEST(copy_files, a_stop_meanwhile_ends_it_after_a_part_and_what_was_copied_is_told) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 5);
  put(folder / "from", whole);
  on_every_home([&]() -> task<void> {
    file from = co_await file::open(folder / "from");
    file to = co_await file::open(folder / "to", tandem::test::new_file());
    std::uint64_t progress = 0;
    bool was_stopped = false;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](file& a, file& b, std::uint64_t& told, bool& stopped) -> task<void> {
        copy_options options;
        options.progress = &told;
        stopped = (co_await as_result(copy(a, b, options))).is_cancelled();
      }(from, to, progress, was_stopped));
      scope.request_stop();
      co_return;
    });
    EXPECT_EQ(progress == size, !was_stopped);
    const std::vector<std::byte> got = co_await contents(folder / "to");
    EXPECT_GE(got.size(), progress);
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(progress),
                           whole.begin()));
  });
}

TEST(copy_files, a_file_that_is_not_open_or_not_to_be_written_is_refused) {
  const temporary_folder folder;
  put(folder / "f", pattern(100, 2));
  on_every_home([&]() -> task<void> {
    file there = co_await file::open(folder / "f");
    file closed;
    EXPECT_EQ((co_await as_result(copy(closed, there))).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(copy(there, closed))).error(), std::errc::bad_file_descriptor);
    file only_read = co_await file::open(folder / "f");
    EXPECT_FALSE(co_await as_result(copy(there, only_read)));
  });
}

TEST(copy_files, of_a_file_into_itself_it_ends_where_the_file_ended_when_it_began) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(300'000, 4);
  on_every_home([&]() -> task<void> {
    put(folder / "f", whole);
    file one = co_await file::open(folder / "f", open_mode::read_write);
    file other = co_await file::open(folder / "f", open_mode::read_write);
    copy_options options;
    options.to_offset = whole.size();
    options.most_bytes = 2 * whole.size();  // so that it ends in any case
    EXPECT_EQ(co_await copy(one, one, options), whole.size());
    std::vector<std::byte> twice = whole;
    twice.insert(twice.end(), whole.begin(), whole.end());
    EXPECT_EQ(co_await contents(folder / "f"), twice);
    options.from_offset = whole.size();
    options.to_offset = 0;
    options.most_bytes = UINT64_MAX;
    EXPECT_EQ(co_await copy(one, other, options), whole.size());
    EXPECT_EQ(co_await contents(folder / "f"), twice);
    options.from_offset = 2 * whole.size();
    EXPECT_EQ(co_await copy(one, other, options), 0U);
  });
}

TEST(copy_files, of_a_file_into_itself_parts_that_overlap_are_refused_and_nothing_is_written) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(300'000, 4);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    file one = co_await file::open(folder / "f", open_mode::read_write);
    file other = co_await file::open(folder / "f", open_mode::read_write);
    copy_options options;
    options.most_bytes = 200'000;
    for (const std::uint64_t to : {0U, 1U, 199'999U}) {
      options.to_offset = to;
      EXPECT_EQ((co_await as_result(copy(one, one, options))).error(), std::errc::invalid_argument);
      EXPECT_EQ((co_await as_result(copy(one, other, options))).error(),
                std::errc::invalid_argument);
    }
    options.from_offset = 1;
    options.to_offset = 0;
    EXPECT_EQ((co_await as_result(copy(one, other, options))).error(), std::errc::invalid_argument);
    EXPECT_EQ(co_await contents(folder / "f"), whole);
  });
}

TEST(copy_files, what_a_stream_gives_is_written_where_it_is_wanted) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(500'000, 6);
  on_every_home([&]() -> task<void> {
    file to = co_await file::open(folder / "to", tandem::test::new_file());
    copy_options options;
    options.to_offset = 3;
    std::uint64_t progress = 0;
    options.progress = &progress;
    tandem::test::connection c = co_await tandem::test::make_connection();
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tandem::io::tcp_stream& s, const std::vector<std::byte>& all) -> task<void> {
        co_await s.write_all(all);
        s.shutdown();
      }(c.client, whole));
      EXPECT_EQ(co_await copy(c.server, to, options), whole.size());
    });
    EXPECT_EQ(progress, whole.size());
    std::vector<std::byte> wanted(3);
    wanted.insert(wanted.end(), whole.begin(), whole.end());
    EXPECT_EQ(co_await contents(folder / "to"), wanted);
  });
}

}  // namespace
