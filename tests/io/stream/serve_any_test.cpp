// serve_any_test.cpp: a server over listeners of the test's own, and handlers that do not know their streams.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "io/stream/any_stream_support.hpp"
#include "io/stream/serve_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::any_stream;
using tandem::io::handler_home;
using tandem::io::serve;
using tandem::io::serve_counts;
using tandem::io::serve_options;
using tandem::io::serve_options_for;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::echo_any;
using tandem::test::memory_listener;
using tandem::test::memory_stream;
using tandem::test::on_every_home;
using tandem::test::options_for_every_home;
using tandem::test::read_to_end;
using tandem::test::task_stream;
using tandem::test::test_runtime;

static_assert(tandem::io::listener<memory_listener<memory_stream>>);
static_assert(tandem::io::listener<tandem::io::tcp_listener>);
static_assert(!tandem::io::listener<tcp_stream>);

template <class Stream>
using port = typename memory_listener<Stream>::port;

template <class Stream>
task<void> ask(port<Stream> server) {
  Stream stream = server.connect();
  co_await stream.write_all(bytes_of("question"));
  stream.shutdown();
  const std::vector<std::byte> heard = co_await read_to_end(stream);
  EXPECT_EQ(heard.size(), 8U);
}

/// As serve_while(), over connections within the process.
template <class Stream, class Handler, class Use>
task<void> serve_memory_while(Handler handler, serve_options_for<Stream> options, Use use) {
  memory_listener<Stream> listener;
  const port<Stream> here = listener.here();
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(serve(std::move(listener), handler, options));
    co_await use(here);
    scope.request_stop();
  });
  EXPECT_THROW((void)here.connect(), std::system_error);
}

template <class Stream>
task<void> ask_many(port<Stream> server, int count) {
  co_await with_scope([&](task_scope& clients) -> task<void> {
    for (int i = 0; i < count; ++i) clients.spawn(ask<Stream>(server));
    co_return;
  });
}

TEST(serve_any, streams_of_ones_own_are_served_wherever_the_handlers_begin) {
  on_every_home([]() -> task<void> {
    for (const serve_options& settings : options_for_every_home()) {
      co_await serve_memory_while<memory_stream>(
          echo_any, serve_options_for<memory_stream>(settings),
          [](port<memory_stream> here) { return ask_many<memory_stream>(here, 20); });
      const auto typed = [](task_stream stream, std::stop_token) -> task<void> {
        std::array<std::byte, 100> room;
        while (const std::size_t n = co_await stream.read(room)) {
          co_await stream.write_all(std::span<const std::byte>(room).first(n));
        }
      };
      co_await serve_memory_while<task_stream>(
          typed, serve_options_for<task_stream>(settings),
          [](port<task_stream> here) { return ask_many<task_stream>(here, 20); });
    }
  });
}

TEST(serve_any, a_handler_that_takes_any_stream_serves_tcp_too) {
  on_every_home([]() -> task<void> {
    for (const serve_options& options : options_for_every_home()) {
      co_await tandem::test::serve_while(echo_any, options,
                                         [](tandem::io::endpoint here) -> task<void> {
                                           tcp_stream client = co_await tcp_stream::connect(here);
                                           co_await client.write_all(bytes_of("question"));
                                           client.shutdown();
                                           EXPECT_EQ((co_await read_to_end(client)).size(), 8U);
                                         });
    }
  });
}

TEST(serve_any, a_stream_without_a_thread_begins_at_the_completion_pool_or_the_workers) {
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt);
  rt.run([](tandem::executor* workers, tandem::executor* completions) -> task<void> {
    for (const handler_home home : {handler_home::connection_thread, handler_home::workers}) {
      serve_options_for<memory_stream> options;
      options.home = home;
      tandem::executor* const wanted = home == handler_home::workers ? workers : completions;
      std::atomic<int> right{0};
      const auto handler = [wanted, &right](any_stream stream) -> task<void> {
        if (wanted->is_current()) ++right;
        co_await echo_any(std::move(stream));
      };
      co_await serve_memory_while<memory_stream>(handler, options, [](port<memory_stream> here) {
        return ask_many<memory_stream>(here, 5);
      });
      EXPECT_EQ(right, 5);
    }
  }(&rt.workers(), &pool.executor()));
}

TEST(serve_any, those_over_the_limit_are_told_in_their_own_type_and_the_rest_is_closed) {
  on_every_home([]() -> task<void> {
    tandem::event may_end;
    serve_counts counts;
    serve_options_for<memory_stream> options;
    options.max_connections = 1;
    options.max_over_limit = 1;
    options.counts = &counts;
    options.over_limit = [&may_end](memory_stream stream) -> task<void> {
      (void)co_await stream.write_all(bytes_of("busy"));
      co_await may_end.wait();
    };
    const auto handler = [&may_end](any_stream stream) -> task<void> {
      co_await stream.write_all(bytes_of("hello"));
      co_await may_end.wait();
    };
    co_await serve_memory_while<memory_stream>(
        handler, options, [&may_end](port<memory_stream> here) -> task<void> {
          std::vector<memory_stream> peers;
          std::array<std::byte, 8> room;
          const std::array<std::size_t, 3> expected{5, 4, 0};
          for (const std::size_t bytes : expected) {
            peers.push_back(here.connect());
            EXPECT_EQ(co_await peers.back().read(room), bytes);
          }
          may_end.set();
        });
    EXPECT_EQ(counts.served, 1U);
    EXPECT_EQ(counts.over_limit, 1U);
    EXPECT_EQ(counts.closed, 1U);
  });
}

TEST(serve_any, connections_of_ones_own_are_drained_and_then_stopped) {
  on_every_home([]() -> task<void> {
    for (const bool patient : {true, false}) {
      serve_options_for<memory_stream> options;
      options.drain_timeout = patient ? 10'000ms : 5ms;
      std::atomic<int> ended{0};
      std::atomic<int> stopped{0};
      const auto handler = [&, patient](any_stream stream, std::stop_token draining) -> task<void> {
        co_await stream.write_all(bytes_of("!"));
        std::array<std::byte, 8> room;
        if (patient) {
          while (!draining.stop_requested()) co_await tandem::sleep_for(1ms);
          ++ended;
        } else if ((co_await as_result(stream.read(room))).is_cancelled()) {
          ++stopped;
        }
      };
      std::vector<memory_stream> peers;
      co_await serve_memory_while<memory_stream>(handler, options,
                                                 [&peers](port<memory_stream> here) -> task<void> {
                                                   std::array<std::byte, 8> room;
                                                   peers.push_back(here.connect());
                                                   EXPECT_EQ(co_await peers.back().read(room), 1U);
                                                 });
      EXPECT_EQ(ended, patient ? 1 : 0);
      EXPECT_EQ(stopped, patient ? 0 : 1);
    }
  });
}

TEST(serve_any, a_listener_that_fails_ends_the_server_with_its_own_exception) {
  on_every_home([]() -> task<void> {
    for (const bool strangely : {true, false}) {
      memory_listener<memory_stream> listener;
      listener.here().fail(strangely);
      const auto ended = co_await as_result(serve(std::move(listener), echo_any));
      EXPECT_FALSE(ended);
      if (strangely) {
        EXPECT_THROW(std::rethrow_exception(ended.exception()), std::runtime_error);
      } else {
        EXPECT_EQ(ended.error(), std::errc::bad_file_descriptor);
      }
    }
  });
}

TEST(serve_any, a_handler_that_throws_before_its_task_ends_its_connection_only) {
  on_every_home([]() -> task<void> {
    std::atomic<int> told{0};
    serve_options_for<memory_stream> options;
    options.on_handler_error = [&told](const std::exception_ptr&) { ++told; };
    std::atomic<int> calls{0};
    const auto handler = [&calls](any_stream stream) -> task<void> {
      if (calls++ == 0) throw std::runtime_error("planned");
      return echo_any(std::move(stream));
    };
    co_await serve_memory_while<memory_stream>(
        handler, options, [](port<memory_stream> here) -> task<void> {
          memory_stream first = here.connect();
          EXPECT_EQ((co_await read_to_end(first)).size(), 0U);
          co_await ask<memory_stream>(here);
        });
    EXPECT_EQ(told, 1);
  });
}

TEST(serve_any, several_listeners_share_one_handler) {
  on_every_home([]() -> task<void> {
    std::vector<memory_listener<memory_stream>> listeners(3);
    std::vector<port<memory_stream>> ports;
    for (const auto& each : listeners) ports.push_back(each.here());
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(serve(std::move(listeners), echo_any));
      for (const auto& each : ports) co_await ask_many<memory_stream>(each, 5);
      scope.request_stop();
    });
  });
}

}  // namespace
