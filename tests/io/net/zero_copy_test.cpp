// zero_copy_test.cpp: writes without a copy: what arrives, is lent, and is taken back by a stop.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <tuple>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::completion_pool;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::read_to_end;
using tandem::test::test_runtime;

/// A sender whose buffer takes what its peer's does not: so it is sent, and not acknowledged.
tandem::io::tcp_options lopsided() {
  tandem::io::tcp_options options;
  options.send_buffer_bytes = 4'000'000;
  options.receive_buffer_bytes = 16 * 1024;
  return options;
}
constexpr std::size_t lent_bytes = 1'000'000;

/// Whether this system has such sends, on the backend that runs.
bool lends() {
  const completion_pool& pool = tandem::io::current_completion_pool("a test");
  return pool.backend_name() == "io_uring";
}

task<void> write_and_end(tcp_stream& to, const std::vector<std::byte>& bytes) {
  co_await to.write_all_zero_copy(bytes);
  to.shutdown();
}

TEST(zero_copy, all_of_it_arrives_again_and_again) {
  on_every_home([]() -> task<void> {
    for (const std::size_t size : {0U, 1U, 32'767U, 32'768U, 5'000'000U}) {
      const std::vector<std::byte> whole = pattern(size, 1);
      connection c = co_await make_connection();
      auto first = co_await tandem::when_all(write_and_end(c.client, whole), read_to_end(c.server));
      EXPECT_EQ(std::get<1>(first), whole);
      // The other direction knows nothing of what the first one has learnt.
      std::vector<std::byte> twice = whole;
      twice.insert(twice.end(), whole.begin(), whole.end());
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](tcp_stream& s, const std::vector<std::byte>& all) -> task<void> {
          co_await s.write_all_zero_copy(all);
          co_await write_and_end(s, all);
        }(c.server, whole));
        EXPECT_EQ(co_await read_to_end(c.client), twice);
      });
    }
  });
}

TEST(zero_copy, a_buffer_is_lent_until_the_peer_has_what_is_in_it) {
  on_every_home([]() -> task<void> {
    const std::vector<std::byte> whole = pattern(lent_bytes, 2);
    connection c = co_await make_connection(lopsided());
    std::atomic<bool> has_ended = false;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& s, const std::vector<std::byte>& all,
                     std::atomic<bool>& ended) -> task<void> {
        co_await write_and_end(s, all);
        ended = true;
      }(c.client, whole, has_ended));
      co_await tandem::sleep_for(5ms);
      // Where there is no such send it has been copied by then.
      EXPECT_EQ(has_ended, !lends());
      EXPECT_EQ(co_await read_to_end(c.server), whole);
    });
    EXPECT_TRUE(has_ended);
  });
}

TEST(zero_copy, a_stop_takes_back_what_was_not_acknowledged_and_the_peer_is_told_so) {
  on_every_home([]() -> task<void> {
    for (const std::size_t size : {lent_bytes, 20 * lent_bytes}) {  // sent, or still being sent
      const std::vector<std::byte> whole = pattern(size, 3);
      connection c = co_await make_connection(lopsided());
      bool was_stopped = false;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](tcp_stream& s, const std::vector<std::byte>& all, bool& told) -> task<void> {
          told = (co_await as_result(s.write_all_zero_copy(all))).is_cancelled();
        }(c.client, whole, was_stopped));
        std::array<std::byte, 100> room{};
        (void)co_await c.server.read(room);  // so it has begun
        scope.request_stop();
      });
      if (!lends()) continue;  // copied: what was sent is the peer's
      EXPECT_TRUE(was_stopped);
      EXPECT_FALSE(co_await as_result(c.client.write_all(std::span(whole).first(1))));
      const auto told = co_await as_result(read_to_end(c.server));
      EXPECT_EQ(told.error(), std::errc::connection_reset);
    }
  });
}

TEST(zero_copy, a_stop_before_it_begins_sends_nothing_and_resets_nothing) {
  on_every_home([]() -> task<void> {
    const std::vector<std::byte> whole = pattern(100'000, 4);
    connection c = co_await make_connection();
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      EXPECT_TRUE((co_await as_result(c.client.write_all_zero_copy(whole))).is_cancelled());
    });
    c.client.shutdown();
    EXPECT_TRUE((co_await read_to_end(c.server)).empty());
  });
}

TEST(zero_copy, a_peer_that_leaves_ends_it) {
  on_every_home([]() -> task<void> {
    const std::vector<std::byte> whole = pattern(20 * lent_bytes, 5);
    connection c = co_await make_connection(lopsided());
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& s, const std::vector<std::byte>& all) -> task<void> {
        const auto ended = co_await as_result(s.write_all_zero_copy(all));
        EXPECT_TRUE(ended.error() == std::errc::broken_pipe ||
                    ended.error() == std::errc::connection_reset ||
                    ended.error() == std::errc::connection_aborted)
            << ended.error().message();
      }(c.client, whole));
      std::array<std::byte, 100> room;
      (void)co_await c.server.read(room);
      c.server.abort();
    });
    const auto again = co_await as_result(c.client.write_all_zero_copy(whole));
    EXPECT_FALSE(again);
    tcp_stream closed;
    EXPECT_EQ((co_await as_result(closed.write_all_zero_copy(whole))).error(),
              std::errc::bad_file_descriptor);
  });
}

task<void> ping(tcp_stream& from, tcp_stream& to) {
  std::array<std::byte, 1> room{};
  co_await from.write_all(room);
  EXPECT_EQ(co_await to.read(room), 1U);
}

/// On the threads of those that read, so that these are asked.
task<void> ping_all(std::vector<connection>& all) {
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (connection& each : all) {
      scope.spawn(each.client.thread_executor(), ping(each.server, each.client));
    }
    co_return;
  });
}

TEST(zero_copy, a_thread_that_is_to_move_waits_for_what_is_lent_and_serves_meanwhile) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(1, 2));
  rt.run([](completion_pool& io) -> task<void> {
    const std::vector<std::byte> whole = pattern(lent_bytes, 6);
    io.resize(2);
    std::vector<connection> all;  // on both threads
    for (int i = 0; i < 4; ++i) all.push_back(co_await make_connection(lopsided()));
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (connection& each : all) {
        scope.spawn([](tcp_stream& s, const std::vector<std::byte>& bytes) -> task<void> {
          co_await s.write_all_zero_copy(bytes);
          co_await s.write_all_zero_copy(bytes);
        }(each.client, whole));
      }
      std::vector<std::byte> room(100'000);
      std::size_t read = 0;
      for (connection& each : all) read += co_await each.server.read(std::span(room).first(1));
      io.resize(1);
      co_await ping_all(all);
      for (connection& each : all) {
        for (std::size_t n = 1; n < 2 * lent_bytes;) n += co_await each.server.read(room);
      }
      EXPECT_EQ(read, all.size());
    });
    co_await ping_all(all);
  }(pool));
}

}  // namespace
