// ends_test.cpp: servers that are killed, paused and started again; sessions that end before their transfers.
// SPDX-License-Identifier: MIT
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "io/curl/curl_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using namespace tandem::test;
using curl::errc;

bool is_a_broken_connection(const std::error_code& code) {
  return code == errc::connection_closed || code == errc::receive_failed ||
         code == errc::could_not_connect || code == errc::send_failed;
}

TEST(curl_ends, a_server_that_is_killed_in_the_midst_fails_its_transfers_and_no_later_ones) {
  if (!test_server::is_installed("nginx")) GTEST_SKIP() << "nginx is not installed";
  test_server server("nginx");
  const std::string base = url_of(server.port(), "");
  in_a_session([&](curl::session& session) -> task<void> {
    EXPECT_EQ((co_await session.get(base + "/hello.txt")).status, 200);
    curl::transfer page = co_await session.open(curl::request(base + "/slow/1M.bin"));
    std::array<std::byte, 4096> room;
    EXPECT_GT(co_await page.read(room), 0U);
    server.kill();
    std::error_code code;
    try {
      while (true) {
        const std::size_t size = co_await page.read(room);
        if (size == 0) break;
      }
    } catch (const curl::error& failure) {
      code = failure.code();
    }
    EXPECT_TRUE(is_a_broken_connection(code)) << code;
    const std::error_code refused = co_await code_of(session.get(base + "/hello.txt"));
    EXPECT_EQ(refused, errc::could_not_connect);
    server.start();
    EXPECT_EQ((co_await session.get(base + "/hello.txt")).status, 200);
  });
}

TEST(curl_ends, a_connection_that_was_closed_while_it_was_idle_is_replaced) {
  if (!test_server::is_installed("nginx")) GTEST_SKIP() << "nginx is not installed";
  test_server server("nginx");
  const std::string url = url_of(server.port(), "/hello.txt");
  in_a_session([&](curl::session& session) -> task<void> {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ((co_await session.get(url)).body, "hello, world\n");
      server.stop();
      server.start();
    }
    EXPECT_EQ(session.stats().connections_opened, 3U);
  });
}

TEST(curl_ends, a_server_that_stands_still_is_too_slow) {
  if (!test_server::is_installed("nginx")) GTEST_SKIP() << "nginx is not installed";
  test_server server("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    server.pause();
    curl::request asked(url_of(server.port(), "/hello.txt"));
    asked.limits.emplace();
    asked.limits->total = 50ms;
    EXPECT_EQ(co_await code_of(session.send(asked)), errc::timed_out);
    const auto in_time = co_await tandem::as_result(
        tandem::with_timeout(50ms, session.get(url_of(server.port(), "/hello.txt"))));
    EXPECT_EQ(in_time.reason(), tandem::stop_reason::deadline);
    server.resume();
    EXPECT_EQ((co_await session.get(url_of(server.port(), "/hello.txt"))).status, 200);
  });
}

TEST(curl_ends, transfers_that_others_wait_for_end_with_their_session) {
  TANDEM_NEEDS_SERVER("nginx");
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::error_code of_get;
    curl::transfer kept;
    const auto other = [&](curl::session& from) -> task<void> {
      of_get = co_await code_of(from.get(nginx_url("/slow/1M.bin")));
    };
    const auto all = [&](tandem::task_scope& scope) -> task<void> {
      const auto body = [&](curl::session& session) -> task<void> {
        scope.spawn(other(session));  // outlives the session
        kept = co_await session.open(curl::request(nginx_url("/slow/1M.bin")));
        while (session.stats().requests < 2) co_await tandem::yield();
      };
      co_await curl::with_session(body);
      co_await scope.join();
    };
    co_await tandem::with_scope(all);
    EXPECT_EQ(of_get, errc::session_ended);
    std::array<std::byte, 4096> room;
    std::error_code of_read;
    try {
      while (true) {
        const std::size_t size = co_await kept.read(room);
        if (size == 0) break;
      }
    } catch (const curl::error& failure) {
      of_read = failure.code();
    }
    EXPECT_EQ(of_read, errc::session_ended);
    co_await kept.close();
  }());
}

TEST(curl_ends, a_stop_of_the_caller_ends_the_session) {
  TANDEM_NEEDS_SERVER("nginx");
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto body = [](curl::session& session) -> task<void> {
      (void)co_await session.get(nginx_url("/slow/1M.bin"));
    };
    const auto ended =
        co_await tandem::as_result(tandem::with_timeout(20ms, curl::with_session(body)));
    EXPECT_EQ(ended.reason(), tandem::stop_reason::deadline);
  }());
}

}  // namespace
