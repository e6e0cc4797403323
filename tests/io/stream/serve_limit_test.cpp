// serve_limit_test.cpp: what becomes of connections over the limit of a server.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <tandem/event.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/stream/serve_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::serve_counts;
using tandem::io::serve_options;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::echo;
using tandem::test::on_every_home;
using tandem::test::options_for_every_home;
using tandem::test::read_to_end;
using tandem::test::serve_while;
using tandem::test::test_runtime;

task<void> say_full(tcp_stream stream) {
  co_await stream.write_all(bytes_of("full"));
  stream.shutdown();
  (void)co_await read_to_end(stream);
}

task<std::string> heard_by(tcp_stream& client) {
  const std::vector<std::byte> bytes = co_await read_to_end(client);
  co_return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Until the server has counted so many.
task<void> until(const std::atomic<std::uint64_t>& count, std::uint64_t wanted) {
  while (count < wanted) co_await tandem::sleep_for(100us);
}

/// A server of one place, which is taken, beside `use(address)`: everybody else is over the limit.
template <class Use>
task<void> while_full(serve_options options, serve_counts& counts, Use use) {
  options.max_connections = 1;
  options.counts = &counts;
  co_await serve_while(echo, options, [&](endpoint here) -> task<void> {
    const tcp_stream served = co_await tcp_stream::connect(here);
    co_await until(counts.served, 1);
    co_await use(here);
  });
}

/// What a newcomer hears until its end.
task<std::string> heard_at(endpoint server) {
  tcp_stream late = co_await tcp_stream::connect(server);
  co_return co_await heard_by(late);
}

TEST(serve, whoever_is_over_the_limit_is_told_so_until_a_place_is_free) {
  on_every_home([]() -> task<void> {
    for (serve_options options : options_for_every_home()) {
      serve_counts counts;
      options.max_connections = 2;
      options.over_limit = &say_full;
      options.counts = &counts;
      std::atomic<std::uint64_t> ended{0};
      const auto handler = [&ended](tcp_stream stream) -> task<void> {
        co_await echo(std::move(stream));
        ++ended;
      };
      co_await serve_while(handler, options, [&](endpoint here) -> task<void> {
        tcp_stream first = co_await tcp_stream::connect(here);
        tcp_stream second = co_await tcp_stream::connect(here);
        co_await until(counts.served, 2);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await heard_at(here), "full");
        first.close();
        // Its place is free when its handler has gone, a moment after it has ended.
        std::string said = "full";
        co_await until(ended, 1);
        while (said == "full") {
          tcp_stream next = co_await tcp_stream::connect(here);
          co_await next.write_all(bytes_of("hello"));
          next.shutdown();
          said = co_await heard_by(next);
        }
        EXPECT_EQ(said, "hello");
      });
      EXPECT_EQ(counts.served, 3U);
      EXPECT_GE(counts.over_limit, 3U);
      EXPECT_EQ(counts.closed, 0U);
    }
  });
}

TEST(serve, past_the_second_limit_connections_are_closed_and_counted) {
  on_every_home([]() -> task<void> {
    serve_counts counts;
    tandem::event over;
    serve_options options;
    options.max_over_limit = 2;
    options.over_limit_timeout = 1h;
    options.over_limit = [&over](tcp_stream stream) -> task<void> {
      co_await over.wait();
      co_await say_full(std::move(stream));
    };
    co_await while_full(options, counts, [&](endpoint here) -> task<void> {
      std::vector<tcp_stream> clients;
      for (int i = 0; i < 2; ++i) clients.push_back(co_await tcp_stream::connect(here));
      co_await until(counts.over_limit, 2);
      for (int i = 0; i < 5; ++i) EXPECT_EQ(co_await heard_at(here), "");
      over.set();
      for (tcp_stream& each : clients) EXPECT_EQ(co_await heard_by(each), "full");
    });
    EXPECT_EQ(counts.served, 1U);
    EXPECT_EQ(counts.over_limit, 2U);
    EXPECT_EQ(counts.closed, 5U);
  });
}

TEST(serve, a_slow_peer_over_the_limit_keeps_its_place_for_a_while_only) {
  on_every_home([]() -> task<void> {
    serve_counts counts;
    std::atomic<int> failures{0};
    serve_options options;
    options.max_over_limit = 1;
    options.over_limit_timeout = 5ms;
    options.on_handler_error = [&](const std::exception_ptr&) { ++failures; };
    options.over_limit = [](tcp_stream stream) -> task<void> {
      (void)co_await read_to_end(stream);  // of one that never ends
    };
    co_await while_full(options, counts, [&](endpoint here) -> task<void> {
      std::vector<tcp_stream> silent;
      while (counts.over_limit < 4) silent.push_back(co_await tcp_stream::connect(here));
      for (tcp_stream& each : silent) EXPECT_EQ(co_await heard_by(each), "");
    });
    EXPECT_EQ(failures, 0);
  });
}

TEST(serve, what_fails_over_the_limit_is_told_as_of_any_handler) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    serve_counts counts;
    std::atomic<std::uint64_t> told{0};
    serve_options options;
    options.on_handler_error = [&](const std::exception_ptr&) { ++told; };
    options.over_limit = [&counts](tcp_stream stream) -> task<void> {  // NOLINT: as handlers are
      if (counts.over_limit == 1) throw std::runtime_error("before there is a task");
      return [](tcp_stream) -> task<void> {
        throw std::runtime_error("planned");
        co_return;
      }(std::move(stream));
    };
    co_await while_full(options, counts, [&](endpoint here) -> task<void> {
      for (std::uint64_t i = 1; i <= 2; ++i) {
        EXPECT_EQ(co_await heard_at(here), "");
        co_await until(told, i);
      }
    });
    EXPECT_EQ(told, 2U);
  }());
}

// It was taken for the end of over_limit_timeout.
TEST(serve, what_a_handler_over_the_limit_waits_for_too_long_by_its_own_clock_is_told) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    serve_counts counts;
    std::atomic<std::uint64_t> told{0};
    serve_options options;
    options.over_limit_timeout = 1h;
    options.on_handler_error = [&](const std::exception_ptr& failure) {
      EXPECT_THROW(std::rethrow_exception(failure), tandem::operation_cancelled);
      ++told;
    };
    options.over_limit = [](tcp_stream stream) -> task<void> {
      (void)co_await tandem::with_timeout(1ms, read_to_end(stream));
    };
    co_await while_full(options, counts, [&](endpoint here) -> task<void> {
      EXPECT_EQ(co_await heard_at(here), "");
      co_await until(told, 1);  // a stop of the server would be no failure
    });
    EXPECT_EQ(told, 1U);
  }());
}

TEST(serve, a_limit_over_several_listeners_keeps_a_place_for_whichever_hears_of_a_peer) {
  test_runtime rt;
  tandem::io::install(*rt, tandem::test::threads_between(2, 2));
  rt.run([]() -> task<void> {
    auto shards = tandem::io::tcp_listener::bind_sharded(endpoint::loopback_v4(0));
    EXPECT_EQ(shards.size(), 2U);
    const endpoint here = shards.front().local_endpoint();
    serve_options options;
    options.max_connections = 1;
    std::atomic<int> at_once{0};
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      const auto handler = [&at_once](tcp_stream stream) -> task<void> {
        EXPECT_EQ(at_once.fetch_add(1), 0);
        co_await echo(std::move(stream));
        at_once.fetch_sub(1);
      };
      scope.spawn(tandem::io::serve(std::move(shards), handler, options));
      // The kernel gives each of them to one or the other.
      for (int i = 0; i < 32; ++i) {
        tcp_stream client = co_await tcp_stream::connect(here);
        co_await client.write_all(bytes_of("?"));
        client.shutdown();
        EXPECT_EQ(co_await heard_by(client), "?");
      }
      scope.request_stop();
    });
  }());
}

}  // namespace
