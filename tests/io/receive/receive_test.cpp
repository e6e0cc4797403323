// receive_test.cpp: leased buffers: order, ends, stops, slow readers, buffers that run out.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::leased_buffer;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::open_descriptors;
using tandem::test::test_runtime;

/// Byte `at` of what every sender sends.
std::byte pattern(std::size_t at) { return static_cast<std::byte>((at * 2654435761U) >> 13); }

task<void> send_pattern(tcp_stream& stream, std::size_t from, std::size_t to) {
  std::vector<std::byte> bytes(to - from);
  for (std::size_t i = from; i < to; ++i) bytes[i - from] = pattern(i);
  co_await stream.write_all(bytes);
}

/// What a receiver has seen so far, compared byte by byte.
class checked {
 public:
  void add(const leased_buffer& got) {
    for (const std::byte each : got.bytes()) wrong_ += each != pattern(count_++) ? 1U : 0U;
  }
  std::size_t count() const { return count_; }
  std::size_t wrong() const { return wrong_; }

 private:
  std::size_t count_ = 0;
  std::size_t wrong_ = 0;
};

/// A runtime with a completion pool of few buffers.
class pool_of {
 public:
  explicit pool_of(unsigned buffers, unsigned bytes = 4096, unsigned threads = 1,
                   unsigned most = 16384) {
    tandem::io::completion_options options;
    options.min_threads = threads;
    options.adaptive = false;
    options.receive_buffers = buffers;
    options.receive_buffer_bytes = bytes;
    options.max_receive_buffers = most;
    pool = &tandem::io::install(*rt, options);
  }
  test_runtime rt{tandem::test::with_threads(2)};
  tandem::io::completion_pool* pool = nullptr;
};

task<void> receive_all(tcp_stream& from, checked& seen) {
  while (true) {
    const leased_buffer got = co_await from.receive();
    if (got.empty()) break;
    seen.add(got);
  }
}

// What they have taken would be gone if somebody else won a race().
static_assert(tandem::detail::lossy_when_dropped<tandem::io::receive_awaiter>);
static_assert(tandem::detail::lossy_when_dropped<tandem::io::incoming_awaiter>);
static_assert(tandem::detail::lossy_when_dropped<tandem::io::signal_awaiter>);

TEST(receive, yields_all_bytes_in_order_then_the_end_again_and_again) {
  pool_of many(64);
  many.rt.run([]() -> task<void> {
    connection c = co_await make_connection();
    constexpr std::size_t size = 3'000'000;
    checked seen;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& to) -> task<void> {
        for (std::size_t at = 0; at < size; at += 10'000) {
          co_await send_pattern(to, at, at + 10'000);
        }
        to.shutdown();
      }(c.client));
      co_await receive_all(c.server, seen);
    });
    EXPECT_EQ(seen.count(), size);
    EXPECT_EQ(seen.wrong(), 0U);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE((co_await c.server.receive()).empty());
  }());
}

TEST(receive, resumes_its_task_at_home_on_every_kind_of_executor) {
  pool_of many(64, 4096, 2);
  many.rt.run([](tandem::io::completion_pool& pool) -> task<void> {
    connection c = co_await make_connection();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& to) -> task<void> {
        for (std::size_t at = 0; at < 30'000; at += 100) {
          co_await send_pattern(to, at, at + 100);
          if (at % 1000 == 0) co_await tandem::sleep_for(100us);
        }
        to.shutdown();
      }(c.client));
      checked seen;
      tandem::executor* const homes[] = {&c.server.thread_executor(), &pool.thread(0).executor(),
                                         &pool.thread(1).executor(), &pool.executor()};
      for (int i = 0;; ++i) {
        const int home = i % 4;
        co_await tandem::resume_on(*homes[home]);
        const leased_buffer got = co_await c.server.receive();
        EXPECT_TRUE(homes[home]->is_current());
        if (got.empty()) break;
        seen.add(got);
      }
      EXPECT_EQ(seen.count(), 30'000U);
      EXPECT_EQ(seen.wrong(), 0U);
    });
  }(*many.pool));
}

TEST(receive, a_stop_ends_the_wait_at_once_and_loses_no_byte) {
  pool_of many(64);
  many.rt.run([]() -> task<void> {
    connection c = co_await make_connection();
    checked seen;
    const auto stopped = co_await as_result(tandem::with_timeout(1ms, c.server.receive()));
    EXPECT_FALSE(stopped.has_value());
    co_await send_pattern(c.client, 0, 5000);
    c.client.shutdown();
    co_await receive_all(c.server, seen);
    EXPECT_EQ(seen.count(), 5000U);
    EXPECT_EQ(seen.wrong(), 0U);
  }());
}

TEST(receive, a_stop_that_was_requested_before_takes_nothing) {
  pool_of many(64);
  many.rt.run([]() -> task<void> {
    connection c = co_await make_connection();
    co_await send_pattern(c.client, 0, 100);
    c.client.shutdown();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.request_stop();
      const auto got = co_await as_result(c.server.receive());
      EXPECT_EQ(got.error(), std::errc::operation_canceled);
      EXPECT_EQ(got.reason(), tandem::stop_reason::user);
    });
    checked seen;
    co_await receive_all(c.server, seen);
    EXPECT_EQ(seen.count(), 100U);
  }());
}

TEST(receive, stops_that_race_with_bytes_lose_none) {
  pool_of many(64, 256, 2);
  tandem::test::stress([&](std::mt19937_64& random) {
    many.rt.run([](std::uint64_t dice) -> task<void> {
      connection c = co_await make_connection();
      constexpr std::size_t size = 200'000;
      checked seen;
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn([](tcp_stream& to, std::uint64_t seed) -> task<void> {
          std::mt19937_64 die(seed);
          for (std::size_t at = 0; at < size;) {
            const std::size_t to_go = std::min<std::size_t>(size - at, 1 + die() % 2000);
            co_await send_pattern(to, at, at + to_go);
            at += to_go;
            if (die() % 4 == 0) co_await tandem::sleep_for(std::chrono::microseconds(die() % 60));
          }
          to.shutdown();
        }(c.client, dice));
        std::mt19937_64 die(dice + 1);
        for (bool ended = false; !ended;) {
          if (die() % 16 == 0) {
            co_await tandem::resume_on(
                die() % 2 == 0
                    ? c.server.thread_executor()
                    : tandem::detail::workers_of(tandem::detail::current_runtime("the test")));
          }
          auto got = co_await as_result(
              tandem::with_timeout(std::chrono::microseconds(1 + die() % 40), c.server.receive()));
          if (!got) continue;
          ended = got.value().empty();
          seen.add(got.value());
        }
      });
      EXPECT_EQ(seen.count(), size);
      EXPECT_EQ(seen.wrong(), 0U);
    }(random()));
  });
}

TEST(receive, a_reader_that_is_slow_holds_the_sender_back_not_the_other_connections) {
  pool_of few(16, 1024);
  few.rt.run([]() -> task<void> {
    connection slow = co_await make_connection();
    connection quick = co_await make_connection();
    constexpr std::size_t size = 8'000'000;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      std::optional<leased_buffer> first = co_await [](connection& c) -> task<leased_buffer> {
        co_await send_pattern(c.client, 0, 10);
        co_return co_await c.server.receive();
      }(slow);
      scope.spawn([](tcp_stream& to) -> task<void> {
        for (std::size_t at = 10; at < size;) {
          const std::size_t end = std::min<std::size_t>(8'000'000, at + 50'000);
          co_await send_pattern(to, at, end);
          at = end;
        }
        to.shutdown();
      }(slow.client));
      // Nobody takes from the slow one; the quick one still gets buffers.
      checked seen;
      for (std::size_t at = 0; at < 50'000; at += 100) {
        co_await send_pattern(quick.client, at, at + 100);
        while (seen.count() < at + 100) seen.add(co_await quick.server.receive());
      }
      EXPECT_EQ(seen.wrong(), 0U);
      checked late;
      late.add(*first);
      first.reset();
      co_await receive_all(slow.server, late);
      EXPECT_EQ(late.count(), size);
      EXPECT_EQ(late.wrong(), 0U);
    });
  }());
}

TEST(receive, goes_on_when_leases_end_after_no_buffer_was_left) {
  pool_of four(4, 512, 1, 4);
  four.rt.run([]() -> task<void> {
    connection c = co_await make_connection();
    constexpr std::size_t size = 60'000;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& to) -> task<void> {
        co_await send_pattern(to, 0, size);
        to.shutdown();
      }(c.client));
      checked seen;
      std::deque<leased_buffer> held;
      for (bool ended = false; !ended;) {
        // All four are here: nothing comes until one goes back.
        auto got = co_await as_result(tandem::with_timeout(
            held.size() == 4 ? std::chrono::nanoseconds(200us) : std::chrono::nanoseconds(1h),
            c.server.receive()));
        if (!got) {
          EXPECT_EQ(held.size(), 4U);
          held.pop_front();
          continue;
        }
        ended = got.value().empty();
        seen.add(got.value());
        if (!ended) held.push_back(std::move(got).value());
        EXPECT_LE(held.size(), 4U);
      }
      EXPECT_EQ(seen.count(), size);
      EXPECT_EQ(seen.wrong(), 0U);
    });
  }());
}

TEST(receive, a_peer_that_resets_is_an_error_after_what_it_sent) {
  pool_of many(64);
  many.rt.run([]() -> task<void> {
    connection c = co_await make_connection();
    co_await send_pattern(c.server, 0, 10);  // unread by the peer: its close resets
    (void)co_await as_result(tandem::with_timeout(1ms, c.server.receive()));
    c.client.close();
    const auto got = co_await as_result(c.server.receive());
    EXPECT_EQ(got.error(), std::errc::connection_reset);
    EXPECT_EQ((co_await as_result(c.server.receive())).error(), std::errc::connection_reset);
  }());
}

TEST(receive, on_a_closed_stream_is_an_error) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tcp_stream closed;
    EXPECT_EQ((co_await as_result(closed.receive())).error(), std::errc::bad_file_descriptor);
  }());
}

TEST(receive, a_stream_closed_while_it_is_received_from_gives_its_descriptor_back_once) {
  pool_of many(64, 256, 2);
  const auto round = [](std::uint64_t dice) -> task<void> {
    connection c = co_await make_connection();
    std::mt19937_64 random(dice);
    co_await send_pattern(c.client, 0, 1 + random() % 3000);
    (void)co_await as_result(
        tandem::with_timeout(std::chrono::microseconds(random() % 50), c.server.receive()));
    switch (random() % 3) {
      case 0: co_await tandem::resume_on(c.server.thread_executor()); break;
      case 1: co_await tandem::yield(); break;
      default: break;
    }
    c.server.close();
    // The peer sees the end.
    std::vector<std::byte> room(16);
    (void)co_await as_result(c.client.read(room));
  };
  many.rt.run(round(1));
  const std::size_t before = open_descriptors();
  std::mt19937_64 random(tandem::test::stress_seed());
  for (int i = 0; i < 300; ++i) many.rt.run(round(random()));
  for (int i = 0; i < 1000 && open_descriptors() != before; ++i) {
    std::this_thread::sleep_for(1ms);  // the completion thread closes
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(receive, leases_and_streams_may_outlive_the_runtime) {
  std::optional<tcp_stream> stream;
  std::vector<leased_buffer> leases;
  {
    pool_of many(64, 256);
    many.rt.run([](std::optional<tcp_stream>& out, std::vector<leased_buffer>& kept) -> task<void> {
      connection c = co_await make_connection();
      co_await send_pattern(c.client, 0, 2000);
      kept.push_back(co_await c.server.receive());
      kept.push_back(co_await c.server.receive());
      out.emplace(std::move(c.server));
    }(stream, leases));
  }
  checked seen;
  for (const leased_buffer& each : leases) seen.add(each);
  EXPECT_GT(seen.count(), 0U);
  EXPECT_EQ(seen.wrong(), 0U);
  leases.pop_back();
  stream.reset();
  leases.clear();
}

}  // namespace
