// tcp_cancel_test.cpp: stops before, during and racing with operations; nothing is lost or leaked.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <random>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"
#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::with_timeout;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;
using tandem::test::steady_threads;
using tandem::test::test_runtime;

task<std::size_t> read_some(tcp_stream& stream, std::span<std::byte> buffer) {
  co_return co_await stream.read(buffer);
}
task<tcp_stream> accept_one(tcp_listener& listener) { co_return co_await listener.accept(); }

TEST(tcp_cancel, a_waiting_accept_and_a_waiting_read_end_with_the_deadline) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    EXPECT_TRUE((co_await as_result(with_timeout(2ms, accept_one(listener)))).is_cancelled());
    tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
    tcp_stream server = co_await listener.accept();
    std::byte byte{};
    for (int i = 0; i < 20; ++i) {
      try {
        co_await with_timeout(500us, read_some(server, std::span(&byte, 1)));
        ADD_FAILURE() << "read something from a silent peer";
      } catch (const tandem::operation_cancelled& e) {
        EXPECT_EQ(e.reason(), tandem::stop_reason::deadline);
      }
    }
    co_await client.write_all(std::span(&byte, 1));
    EXPECT_EQ(co_await server.read(std::span(&byte, 1)), 1U);
  });
}

// A leaf's own result holds a code: no exception that could say why.
TEST(tcp_cancel, the_code_of_an_operation_that_ended_with_the_deadline_says_so) {
  on_every_home([]() -> task<void> {
    connection c = co_await make_connection();
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const auto reads = [](tcp_stream& stream) -> task<void> {
      std::byte byte{};
      const auto got = co_await as_result(stream.read(std::span(&byte, 1)));
      EXPECT_EQ(got.error(), std::errc::timed_out);
      EXPECT_EQ(got.error(), std::errc::operation_canceled);
      EXPECT_EQ(got.reason(), tandem::stop_reason::deadline);
    };
    const auto accepts = [](tcp_listener& waiting) -> task<void> {
      const auto got = co_await as_result(waiting.accept());
      EXPECT_EQ(got.reason(), tandem::stop_reason::deadline);
    };
    co_await with_timeout(1ms, reads(c.server));
    co_await with_timeout(1ms, accepts(listener));
  });
}

TEST(tcp_cancel, a_blocked_write_ends_with_the_deadline) {
  on_every_home([]() -> task<void> {
    connection c = co_await make_connection();
    const std::vector<std::byte> bytes(1U << 20);
    const auto floods = [](tcp_stream& s, const std::vector<std::byte>& b) -> task<void> {
      while (true) co_await s.write_all(b);
    };
    EXPECT_TRUE((co_await as_result(with_timeout(20ms, floods(c.client, bytes)))).is_cancelled());
  });
}

TEST(tcp_cancel, an_operation_of_a_stopped_task_does_not_start) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      EXPECT_TRUE((co_await as_result(listener.accept())).is_cancelled());
      EXPECT_TRUE(
          (co_await as_result(tcp_stream::connect(listener.local_endpoint()))).is_cancelled());
    });
  });
}

// One byte at a time from the peer, reads with limits that race with their arrival: each byte comes
// out exactly once and in order, whether its read was cancelled or not.
TEST(tcp_cancel, reads_that_race_with_their_deadline_lose_no_byte) {
  tandem::test::stress([](std::mt19937_64& random) {
    const auto seed = static_cast<unsigned>(random());
    on_every_home([seed]() -> task<void> {
      connection c = co_await make_connection();
      constexpr int count = 150;
      co_await tandem::with_scope([&, seed](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](tcp_stream& out, unsigned dice) -> task<void> {
          for (int i = 0; i < count; ++i) {
            dice = dice * 1664525U + 1013904223U;
            co_await tandem::sleep_for(std::chrono::microseconds(dice >> 25));
            const auto byte = static_cast<std::byte>(i);
            co_await out.write_all(std::span(&byte, 1));
          }
        }(c.client, seed));
        int expected = 0;
        while (expected < count) {
          std::byte byte{};
          const auto got =
              co_await as_result(with_timeout(100us, read_some(c.server, std::span(&byte, 1))));
          if (got.has_value()) {
            EXPECT_EQ(static_cast<int>(byte), expected);
            ++expected;
          } else {
            EXPECT_TRUE(got.is_cancelled());
          }
        }
      });
    });
  });
}

TEST(tcp_cancel, accepts_that_race_with_their_deadline_leak_no_descriptor) {
  tandem::test::stress([](std::mt19937_64& random) {
    test_runtime rt;
    tandem::io::install(*rt, steady_threads());
    const std::size_t before = open_descriptors();
    rt.run([](unsigned dice) -> task<void> {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      const endpoint here = listener.local_endpoint();
      int accepted = 0;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](endpoint peer, unsigned d) -> task<void> {
          for (int i = 0; i < 100; ++i) {
            d = d * 1664525U + 1013904223U;
            co_await tandem::sleep_for(std::chrono::microseconds(d >> 25));
            tcp_stream stream = co_await tcp_stream::connect(peer);
          }
        }(here, dice));
        while (accepted < 100) {
          auto got = co_await as_result(with_timeout(100us, accept_one(listener)));
          if (got.has_value()) ++accepted;
        }
      });
      EXPECT_EQ(accepted, 100);
    }(static_cast<unsigned>(random())));
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST(tcp_cancel, connects_that_race_with_their_deadline_leak_no_descriptor) {
  on_every_home([]() -> task<void> {
    const std::size_t before = open_descriptors();
    {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      const endpoint here = listener.local_endpoint();
      const auto connect = [](endpoint peer) -> task<tcp_stream> {
        co_return co_await tcp_stream::connect(peer);
      };
      int connected = 0;
      int cancelled = 0;
      for (int i = 0; i < 300; ++i) {
        const auto got =
            co_await as_result(with_timeout(std::chrono::microseconds(i % 60), connect(here)));
        got.has_value() ? ++connected : ++cancelled;
        EXPECT_TRUE(got.has_value() || got.is_cancelled());
      }
      EXPECT_EQ(connected + cancelled, 300);
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST(tcp_cancel, shutting_a_runtime_down_stops_all_its_operations) {
  test_runtime rt;
  {
    tandem::runtime inner(tandem::test::with_threads(2));
    auto ready = inner.spawn([]() -> task<void> {
      for (int i = 0; i < 50; ++i) {
        (void)tandem::spawn([]() -> task<void> {
          tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
          (void)co_await listener.accept();
        }());
      }
      co_await tandem::sleep_for(5ms);
    }());
    ready.wait();
    // A task is counted as ended a moment after its waiter was told.
    while (inner.live_tasks() != 50) std::this_thread::yield();
  }
}

}  // namespace
