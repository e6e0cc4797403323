// vectored_test.cpp: transfers of several buffers at once.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/support/io_support.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::read_to_end;

using parts = std::vector<std::span<const std::byte>>;
using rooms = std::vector<std::span<std::byte>>;

/// Cuts `whole` into `count` pieces of random sizes, many of them empty.
parts cut(const std::vector<std::byte>& whole, std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> marks;
  for (std::size_t i = 1; i < count; ++i) marks.push_back(random() % (whole.size() + 1));
  for (std::size_t i = 0; i < marks.size() / 4; ++i) marks[i] = marks[marks.size() - 1 - i];
  std::sort(marks.begin(), marks.end());
  marks.push_back(whole.size());
  parts made;
  std::size_t begin = 0;
  for (const std::size_t end : marks) {
    made.push_back(std::span(whole).subspan(begin, end - begin));
    begin = end;
  }
  return made;
}

task<void> write_and_compare(const std::vector<std::byte>& whole, const parts& list) {
  // Small buffers: most transfers are partial, and end inside of a part.
  tandem::io::tcp_options small;
  small.send_buffer_bytes = 9000;
  small.receive_buffer_bytes = 9000;
  connection both = co_await make_connection(small);
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn([](tcp_stream& out, const parts& what) -> task<void> {
      co_await out.write_all(what);
      out.shutdown();
    }(both.client, list));
    EXPECT_EQ(co_await read_to_end(both.server), whole);
  });
}

TEST(vectored, any_number_of_buffers_of_any_size_arrives_whole_and_in_order) {
  tandem::test::stress([](std::mt19937_64& random) {
    const auto seed = random();
    on_every_home([seed]() -> task<void> {
      std::mt19937_64 dice(seed);
      for (const std::size_t size : {0U, 1U, 1000U, 400'000U}) {
        for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 33U, 3U * 1024U}) {
          const std::vector<std::byte> whole = pattern(size, static_cast<unsigned>(dice()));
          const parts list = cut(whole, count, dice);
          co_await write_and_compare(whole, list);
        }
      }
    });
  });
}

TEST(vectored, a_read_fills_the_buffers_in_their_order) {
  on_every_home([]() -> task<void> {
    connection both = co_await make_connection();
    co_await both.client.write_all(bytes_of("headbody"));
    std::array<std::byte, 4> head{};
    std::array<std::byte, 16> body{};
    const std::array<std::span<std::byte>, 4> list{
        std::span<std::byte>(), std::span<std::byte>(head), std::span<std::byte>(),
        std::span<std::byte>(body)};
    EXPECT_EQ(co_await both.server.read(list), 8U);
    EXPECT_EQ(std::memcmp(head.data(), "head", 4), 0);
    EXPECT_EQ(std::memcmp(body.data(), "body", 4), 0);
    both.client.shutdown();
    EXPECT_EQ(co_await both.server.read(list), 0U);
  });
}

TEST(vectored, a_stream_read_into_many_small_buffers_loses_no_byte) {
  on_every_home([]() -> task<void> {
    connection both = co_await make_connection();
    const std::vector<std::byte> sent = pattern(500'000, 7);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& out, const std::vector<std::byte>& bytes) -> task<void> {
        co_await out.write_all(bytes);
        out.shutdown();
      }(both.client, sent));
      std::vector<std::byte> got(sent.size());
      std::size_t have = 0;
      while (true) {
        rooms list;
        for (std::size_t at = have; at < got.size() && list.size() < 40; at += 700) {
          list.push_back(std::span(got).subspan(at, std::min<std::size_t>(700, got.size() - at)));
        }
        if (list.empty()) break;
        const std::size_t n = co_await both.server.read(list);
        EXPECT_GT(n, 0U);
        EXPECT_LE(n, 16U * 700);
        if (n == 0) break;
        have += n;
      }
      EXPECT_EQ(got, sent);
    });
  });
}

TEST(vectored, nothing_to_do_is_done_at_once_and_a_closed_stream_says_so) {
  on_every_home([]() -> task<void> {
    connection both = co_await make_connection();
    const rooms no_rooms(20);
    const parts no_parts(20);
    EXPECT_EQ(co_await both.server.read(rooms()), 0U);
    EXPECT_EQ(co_await both.server.read(no_rooms), 0U);
    co_await both.server.write_all(parts());
    co_await both.server.write_all(no_parts);
    tcp_stream none;
    std::byte byte{};
    const rooms one{std::span(&byte, 1)};
    const parts one_sent{std::span(&byte, 1)};
    EXPECT_EQ((co_await as_result(none.read(one))).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(none.write_all(one_sent))).error(),
              std::errc::bad_file_descriptor);
  });
}

TEST(vectored, a_blocked_write_and_a_waiting_read_end_with_the_deadline) {
  on_every_home([]() -> task<void> {
    connection both = co_await make_connection();
    const std::vector<std::byte> bytes(1U << 20);
    const parts list(64, std::span<const std::byte>(bytes));
    EXPECT_TRUE((co_await as_result(tandem::with_timeout(20ms, both.client.write_all(list))))
                    .is_cancelled());
    std::byte byte{};
    const rooms one{std::span(&byte, 1)};
    EXPECT_TRUE(
        (co_await as_result(tandem::with_timeout(1ms, both.client.read(one)))).is_cancelled());
  });
}

}  // namespace
