// idle_test.cpp: what waits for its reader, or for its next request, wakes nobody.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <tandem/task_scope.hpp>
#include <vector>

#include "io/curl/curl_support.hpp"
#include "io/support/thread_waits.hpp"

namespace {

using tandem::task;
using namespace tandem::test;

TEST(curl_idle, connections_that_nobody_uses_wake_no_thread) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([](curl::session& session) -> task<void> {
    const auto both = [&](tandem::task_scope& scope) -> task<void> {
      const auto get = [&]() -> task<void> {
        EXPECT_EQ((co_await session.get(nginx_url("/hello.txt"))).status, 200);
      };
      for (int i = 0; i < 8; ++i) scope.spawn(get());
      co_await scope.join();
    };
    co_await tandem::with_scope(both);
    co_await expect_no_thread_wakes();
    EXPECT_EQ((co_await session.get(nginx_url("/hello.txt"))).new_connections, 0U);
  });
}

TEST(curl_idle, transfers_that_nobody_reads_wake_no_thread) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([](curl::session& session) -> task<void> {
    std::vector<curl::transfer> paused;
    for (int i = 0; i < 8; ++i) {
      paused.push_back(co_await session.open(curl::request(nginx_url("/1M.bin"))));
    }
    co_await expect_no_thread_wakes();
    std::vector<std::byte> room(100'000);
    for (curl::transfer& each : paused) {  // and it goes on from there
      std::size_t all = 0;
      while (true) {
        const std::size_t size = co_await each.read(room);
        if (size == 0) break;
        all += size;
      }
      EXPECT_EQ(all, std::size_t{1} << 20);
    }
  });
}

TEST(curl_idle, upload_whose_source_has_nothing_yet_wakes_no_thread) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([](curl::session& session) -> task<void> {
    int asked = 0;
    curl::request put("PUT", nginx_url("/upload/waits.bin"));
    put.body_from([&](std::span<std::byte> room) -> task<std::size_t> {
      if (++asked == 3) co_return 0;
      if (asked == 2) co_await expect_no_thread_wakes();
      std::fill_n(room.begin(), 10, std::byte{'x'});
      co_return 10;
    });
    EXPECT_TRUE((co_await session.send(put)).is_ok());
    EXPECT_EQ((co_await session.get(put.url)).body, std::string(20, 'x'));
  });
}

}  // namespace
