// bodies_test.cpp: bodies that come and go piece by piece, and what holds them up.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <tandem/event.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "io/curl/curl_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using namespace tandem::test;
using curl::errc;

/// What is left of the body, in pieces of that size.
task<std::string> read_all(curl::transfer& from, std::size_t piece) {
  std::string all;
  std::vector<std::byte> room(piece);
  while (true) {
    const std::size_t size = co_await from.read(room);
    if (size == 0) co_return all;
    all += tandem::io::text_of(std::span(room).first(size));
  }
}

TEST(curl_bodies, a_transfer_is_read_piece_by_piece) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    const std::string expected = file_bytes(1 << 20);
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 20}) {
      curl::transfer page = co_await session.open(curl::request(nginx_url("/1M.bin")));
      EXPECT_EQ(page.head().status, 200);
      EXPECT_EQ(page.head().headers.get("content-length"), "1048576");
      EXPECT_EQ(co_await read_all(page, piece), expected);
      EXPECT_EQ(page.head().downloaded_bytes, expected.size());
      std::array<std::byte, 8> room;
      EXPECT_EQ(co_await page.read(room), 0U);
    }
    EXPECT_EQ(session.stats().connections_opened, 1U);
  });
}

TEST(curl_bodies, a_transfer_that_nobody_reads_is_paused_and_wakes_nobody) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    curl::transfer page = co_await session.open(curl::request(nginx_url("/1M.bin")));
    // Until its window is full, and the socket has said so for the last time.
    co_await tandem::resume_on(session.executor());
    std::uint64_t before = 0;
    do {
      before = session.stats().wake_ups;
      for (int i = 0; i < 1000; ++i) co_await tandem::yield();
    } while (session.stats().wake_ups != before);
    const std::string first = co_await read_all(page, 4096);
    EXPECT_EQ(first, file_bytes(1 << 20));
  });
}

TEST(curl_bodies, a_transfer_that_is_dropped_is_broken_off_and_others_go_on) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    for (int i = 0; i < 20; ++i) {
      curl::transfer page = co_await session.open(curl::request(nginx_url("/1M.bin")));
      std::array<std::byte, 100> room;
      const std::size_t size = co_await page.read(room);
      EXPECT_EQ(size, 100U);
      if (i % 2 == 0) co_await page.close();
      const curl::response other = co_await session.get(nginx_url("/hello.txt"));
      EXPECT_EQ(other.body, "hello, world\n");
    }
    EXPECT_EQ(session.stats().requests, 40U);
  });
}

TEST(curl_bodies, a_sink_gets_all_of_it_and_holds_up_the_server) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    std::string got;
    curl::request asked(nginx_url("/1M.bin"));
    asked.body_to([&](std::span<const std::byte> bytes) -> task<void> {
      got += tandem::io::text_of(bytes);
      co_await tandem::yield();
    });
    const curl::response page = co_await session.send(asked);
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.body, "");
    EXPECT_EQ(page.downloaded_bytes, got.size());
    EXPECT_EQ(got, file_bytes(1 << 20));
  });
}

TEST(curl_bodies, a_body_may_be_looked_at_and_kept_nowhere) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    std::string got;
    curl::request asked(nginx_url("/1M.bin"));
    asked.on_body = [&](std::span<const std::byte> bytes) { got += tandem::io::text_of(bytes); };
    const curl::response page = co_await session.send(asked);
    EXPECT_TRUE(got == file_bytes(1 << 20));
    EXPECT_EQ(page.body, "");
    asked.on_body = [](std::span<const std::byte>) { throw std::domain_error("enough"); };
    const auto ended = co_await tandem::as_result(session.send(asked));
    EXPECT_THROW((void)ended.value(), std::domain_error);
  });
}

TEST(curl_bodies, what_a_sink_throws_ends_the_transfer_and_is_thrown) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    curl::request asked(nginx_url("/1M.bin"));
    asked.body_to([&](std::span<const std::byte>) -> task<void> {
      co_await tandem::yield();
      throw std::domain_error("the disk is full");
    });
    const auto got = co_await tandem::as_result(session.send(asked));
    EXPECT_THROW((void)got.value(), std::domain_error);
    EXPECT_EQ((co_await session.get(nginx_url("/hello.txt"))).status, 200);
  });
}

/// Gives `all` in pieces that differ.
class pieces {
 public:
  explicit pieces(std::string all) : all_(std::move(all)) {}
  task<std::size_t> operator()(std::span<std::byte> room) {
    co_await tandem::yield();
    const std::size_t wanted = 1 + (given_ * 7919) % 50'000;
    const std::size_t size = std::min({room.size(), wanted, all_.size() - given_});
    std::copy_n(reinterpret_cast<const std::byte*>(all_.data()) + given_, size, room.begin());
    given_ += size;
    co_return size;
  }

 private:
  std::string all_;
  std::size_t given_ = 0;
};

TEST(curl_bodies, a_source_is_sent_with_and_without_its_size) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    const std::string all = file_bytes(1'000'000);
    for (const bool with_size : {true, false}) {
      curl::request put("PUT", nginx_url("/upload/streamed.bin"));
      put.raise_for_status = true;
      if (with_size) {
        put.body_from(pieces(all), all.size());
      } else {
        put.body_from(pieces(all));
      }
      const curl::response stored = co_await session.send(put);
      EXPECT_EQ(stored.uploaded_bytes, all.size());
      const curl::response back = co_await session.get(put.url);
      EXPECT_EQ(back.body, all);
    }
  });
}

TEST(curl_bodies, a_source_may_be_slower_than_the_server) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    tandem::event go_on;
    std::atomic<int> asked{0};  // the source's task and this one may be on two threads
    curl::request put("PUT", nginx_url("/upload/slow.bin"));
    put.body_from([&](std::span<std::byte> room) -> task<std::size_t> {
      if (++asked == 3) co_return 0;
      if (asked == 2) co_await go_on.wait();
      std::fill_n(room.begin(), 10, std::byte{'x'});
      co_return 10;
    });
    const auto both = [&](tandem::task_scope& scope) -> task<void> {
      const auto upload = [&]() -> task<void> {
        const curl::response stored = co_await session.send(put);
        EXPECT_TRUE(stored.is_ok());
      };
      scope.spawn(upload());
      while (asked < 2) co_await tandem::yield();
      const curl::response other = co_await session.get(nginx_url("/hello.txt"));
      EXPECT_EQ(other.status, 200);
      go_on.set();
      co_await scope.join();
    };
    co_await tandem::with_scope(both);
    const curl::response back = co_await session.get(put.url);
    EXPECT_EQ(back.body, std::string(20, 'x'));
  });
}

TEST(curl_bodies, what_a_source_throws_is_thrown_and_so_is_a_wrong_size) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    curl::request put("PUT", nginx_url("/upload/never.bin"));
    put.body_from([](std::span<std::byte>) -> task<std::size_t> {
      co_await tandem::yield();
      throw std::domain_error("the tape is torn");
    });
    const auto torn = co_await tandem::as_result(session.send(put));
    EXPECT_THROW((void)torn.value(), std::domain_error);
    put.body_from(pieces("0123456789"), 20);
    EXPECT_EQ(co_await code_of(session.send(put)), errc::send_failed);
    put.body_from(pieces(std::string(100'000, 'x')), 20);
    EXPECT_EQ(co_await code_of(session.send(put)), errc::send_failed);
    EXPECT_EQ((co_await session.get(nginx_url("/hello.txt"))).status, 200);
  });
}

TEST(curl_bodies, streams_are_sources_and_sinks) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    connection up = co_await make_connection();
    connection down = co_await make_connection();
    const std::string all = file_bytes(300'000);
    curl::request put("PUT", nginx_url("/upload/piped.bin"));
    put.body_from(up.server);
    curl::request back(put.url);
    back.body_to(down.client);
    std::string got;
    const auto body = [&](tandem::task_scope& scope) -> task<void> {
      const auto reader = [&]() -> task<void> {
        const std::vector<std::byte> bytes = co_await read_to_end(down.server);
        got = tandem::io::text_of(bytes);
      };
      scope.spawn(write_and_end(up.client, tandem::io::bytes_of(all)));
      (void)co_await session.send(put);
      scope.spawn(reader());
      (void)co_await session.send(back);
      down.client.shutdown();
      co_await scope.join();
    };
    co_await tandem::with_scope(body);
    EXPECT_EQ(got, all);
  });
}

TEST(curl_bodies, progress_and_headers_are_told_as_they_come) {
  TANDEM_NEEDS_SERVER("nginx");
  in_a_session([&](curl::session& session) -> task<void> {
    std::uint64_t downloaded = 0;
    std::uint64_t expected = 0;
    std::vector<std::string> names;
    curl::request asked(nginx_url("/1M.bin"));
    asked.on_progress = [&](const curl::transfer_progress& now) {
      EXPECT_GE(now.downloaded_bytes, downloaded);
      downloaded = now.downloaded_bytes;
      expected = now.to_download_bytes;
    };
    asked.on_header = [&](std::string_view name, std::string_view) { names.emplace_back(name); };
    const curl::response page = co_await session.send(asked);
    EXPECT_EQ(downloaded, page.body.size());
    EXPECT_EQ(expected, page.body.size());
    EXPECT_EQ(names.size(), page.headers.size());
    asked.on_progress = [](const curl::transfer_progress&) {
      throw std::domain_error("that is enough");
    };
    const auto ended = co_await tandem::as_result(session.send(asked));
    EXPECT_THROW((void)ended.value(), std::domain_error);
  });
}

}  // namespace
