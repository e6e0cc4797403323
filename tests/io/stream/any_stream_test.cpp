// any_stream_test.cpp: a stream without its type does what the stream does: bytes, ends, errors, stops.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/framing.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "io/stream/any_stream_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::any_stream;
using tandem::io::buffered_reader;
using tandem::io::tcp_stream;
using tandem::test::any_connection;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::echo_any;
using tandem::test::for_every_kind;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::read_to_end;

constexpr std::errc closed = std::errc::bad_file_descriptor;

TEST(any_stream, what_is_written_comes_back_and_the_end_is_passed_on) {
  for_every_kind([](any_connection c) -> task<void> {
    const std::vector<std::byte> whole = pattern(200'000, 3);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(echo_any(std::move(c.server)));
      scope.spawn([](any_stream& client, const std::vector<std::byte>& bytes) -> task<void> {
        co_await client.write_all(bytes);
        client.shutdown();
      }(c.client, whole));
      EXPECT_EQ(co_await read_to_end(c.client), whole);
    });
  });
}

TEST(any_stream, write_says_how_much_was_taken_and_a_list_goes_in_its_order) {
  for_every_kind([](any_connection c) -> task<void> {
    const std::vector<std::byte> whole = pattern(5000, 4);
    std::size_t taken = 0;
    while (taken < whole.size()) taken += co_await c.client.write(std::span(whole).subspan(taken));
    const std::array<std::span<const std::byte>, 3> list{bytes_of("one "), {}, bytes_of("two")};
    co_await c.client.write_all(list);
    c.client.shutdown();
    std::vector<std::byte> expected = whole;
    for (const auto& each : list) expected.insert(expected.end(), each.begin(), each.end());
    EXPECT_EQ(co_await read_to_end(c.server), expected);
  });
}

TEST(any_stream, a_read_that_is_stopped_has_lost_nothing) {
  for_every_kind([](any_connection c) -> task<void> {
    std::array<std::byte, 100> room;
    for (int i = 0; i < 3; ++i) {
      const auto late = co_await as_result(tandem::with_timeout(1ms, c.server.read(room)));
      EXPECT_TRUE(late.is_cancelled());
      EXPECT_EQ(late.reason(), tandem::stop_reason::deadline);
      co_await c.client.write_all(bytes_of("12345"));
      std::size_t came = 0;
      while (came < 5) came += co_await c.server.read(std::span(room).subspan(came));
      EXPECT_EQ(came, 5U);
    }
  });
}

TEST(any_stream, what_has_come_is_taken_without_waiting_where_the_stream_can) {
  on_every_home([]() -> task<void> {
    connection tcp = co_await make_connection();
    any_stream server(std::move(tcp.server));
    std::array<std::byte, 8> room;
    EXPECT_EQ(server.try_read(room).error(), std::errc::operation_would_block);
    co_await tcp.client.write_all(bytes_of("12345"));
    EXPECT_EQ(co_await server.read(std::span(room).first(2)), 2U);
    EXPECT_EQ(server.try_read(room).value(), 3U);
    EXPECT_EQ(room[2], std::byte{'5'});
    EXPECT_EQ(server.try_read(room).error(), std::errc::operation_would_block);
    co_await tcp.client.write_all(bytes_of("6"));
    EXPECT_EQ(co_await server.read(room), 1U);  // a read finds what comes after it
    tcp.client.shutdown();
    EXPECT_EQ(co_await server.read(room), 0U);
    EXPECT_EQ(server.try_read(room).value(), 0U);
    server.close();
    EXPECT_EQ(server.try_read(room).error(), closed);
    auto other = tandem::test::make_memory_connection<tandem::test::task_stream>();
    any_stream of_tasks(std::move(other.first));
    EXPECT_EQ(of_tasks.try_read(room).error(), std::errc::operation_not_supported);
  });
}

TEST(any_stream, what_has_come_is_not_taken_from_a_read_that_waits) {
  on_every_home([]() -> task<void> {
    connection tcp = co_await make_connection();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      std::array<std::byte, 8> mine;
      scope.spawn([](tcp_stream& stream) -> task<void> {
        std::array<std::byte, 8> room;
        EXPECT_EQ(co_await stream.read(room), 3U);
      }(tcp.server));
      co_await tandem::sleep_for(1ms);
      EXPECT_EQ(tcp.server.try_read(mine).error(), std::errc::operation_in_progress);
      co_await tcp.client.write_all(bytes_of("abc"));
    });
  });
}

TEST(any_stream, a_stop_that_came_before_ends_the_read) {
  for_every_kind([](any_connection c) -> task<void> {
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.request_stop();
      scope.spawn([](any_stream& stream) -> task<void> {
        std::array<std::byte, 8> room;
        const auto stopped = co_await as_result(stream.read(room));
        EXPECT_TRUE(stopped.is_cancelled());
      }(c.server));
      co_return;
    });
    co_await c.client.write_all(bytes_of("x"));
    std::array<std::byte, 8> room;
    EXPECT_EQ(co_await c.server.read(room), 1U);
  });
}

TEST(any_stream, a_read_that_waits_ends_when_the_peer_has_closed) {
  for_every_kind([](any_connection c) -> task<void> {
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](any_stream& stream) -> task<void> {
        std::array<std::byte, 8> room;
        EXPECT_EQ(co_await stream.read(room), 0U);
        EXPECT_EQ(co_await stream.read(room), 0U);
      }(c.server));
      co_await tandem::yield();
      EXPECT_TRUE(c.client.is_open());
      c.client.close();
      EXPECT_FALSE(c.client.is_open());
      c.client.close();
    });
  });
}

TEST(any_stream, it_is_closed_when_the_read_was_stopped_and_has_ended) {
  for_every_kind([](any_connection c) -> task<void> {
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](any_stream& stream) -> task<void> {
        std::array<std::byte, 8> room;
        EXPECT_TRUE((co_await as_result(stream.read(room))).is_cancelled());
        stream.close();
      }(c.server));
      co_await tandem::yield();
      scope.request_stop();
    });
    EXPECT_FALSE(c.server.is_open());
    EXPECT_EQ((co_await read_to_end(c.client)).size(), 0U);
  });
}

TEST(any_stream, a_failure_is_the_streams_own_thrown_or_as_a_result) {
  on_every_home([]() -> task<void> {
    connection c = co_await make_connection();
    any_stream server = std::move(c.server);
    c.client.abort();
    std::array<std::byte, 8> room;
    EXPECT_EQ((co_await as_result(server.read(room))).error(), std::errc::connection_reset);
    server.close();
    std::string told;
    try {
      (void)co_await server.read(room);
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), closed);
      told = failure.what();
    }
    EXPECT_NE(told.find("tcp_stream::read"), told.npos);

    auto [one, other] = tandem::test::make_memory_connection<tandem::test::memory_stream>();
    any_stream adapted = std::move(one);
    adapted.shutdown();
    const std::vector<std::byte> bytes = pattern(10, 1);
    EXPECT_EQ((co_await as_result(adapted.write(bytes))).error(), std::errc::broken_pipe);
    EXPECT_EQ((co_await as_result(adapted.write_all(bytes))).error(), std::errc::broken_pipe);
    bool thrown = false;
    try {
      co_await adapted.write_all(bytes);
    } catch (const std::system_error& failure) {
      thrown = failure.code() == std::errc::broken_pipe;
    }
    EXPECT_TRUE(thrown);
  });
}

TEST(any_stream, readers_frames_and_copies_work_over_it) {
  for_every_kind([](any_connection c) -> task<void> {
    const std::vector<std::byte> message = pattern(3000, 7);
    co_await tandem::io::write_frame(c.client, message);
    co_await c.client.write_all(bytes_of("a line\r\nthe rest"));
    c.client.shutdown();
    buffered_reader reader(c.server);
    EXPECT_EQ(co_await tandem::io::read_frame(reader), message);
    EXPECT_EQ(co_await reader.read_until("\r\n", 100), "a line");
    EXPECT_EQ(co_await tandem::io::copy(reader, c.server), 8U);  // back, with the end
    EXPECT_EQ((co_await read_to_end(c.client)).size(), 8U);
  });
}

TEST(any_stream, a_proxy_passes_between_streams_of_two_types) {
  on_every_home([]() -> task<void> {
    connection front = co_await make_connection();
    auto back = tandem::test::make_memory_connection<tandem::test::task_stream>();
    any_stream one = std::move(front.server);
    any_stream other = std::move(back.first);
    const std::vector<std::byte> question = pattern(50'000, 1);
    const std::vector<std::byte> answer = pattern(60'000, 2);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](any_stream& a, any_stream& b) -> task<void> {
        (void)co_await tandem::when_all(tandem::io::copy(a, b), tandem::io::copy(b, a));
      }(one, other));
      co_await front.client.write_all(question);
      front.client.shutdown();
      EXPECT_EQ(co_await read_to_end(back.second), question);
      co_await back.second.write_all(answer);
      back.second.shutdown();
      EXPECT_EQ(co_await read_to_end(front.client), answer);
    });
  });
}

}  // namespace
