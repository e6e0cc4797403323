// serve_end_test.cpp: how serve() drains.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <vector>

#include "io/support/io_support.hpp"
#include "refusing_port.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::serve;
using tandem::io::serve_options;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;
using tandem::test::read_to_end;

TEST(serve_drain, connections_finish_after_a_stop_and_new_peers_are_refused) {
  on_every_home([]() -> task<void> {
    tandem::event begun;
    tandem::event may_end;
    const auto handler = [&](tcp_stream stream) -> task<void> {
      begun.set();
      co_await may_end.wait();
      co_await stream.write_all(bytes_of("goodbye"));
    };
    const auto port = tandem::test::refusing_port::for_listeners();
    const endpoint here = port.where();
    tcp_listener listener = tcp_listener::bind(here);
    serve_options options;
    options.drain_timeout = 1h;
    auto serving = tandem::spawn(serve(std::move(listener), handler, options));
    tcp_stream client = co_await tcp_stream::connect(here);
    co_await begun.wait();
    serving.cancel();
    while (co_await as_result(tcp_stream::connect(here))) co_await tandem::sleep_for(100us);
    EXPECT_FALSE(serving.is_done());
    may_end.set();
    EXPECT_EQ((co_await read_to_end(client)).size(), 7U);
    co_await serving;  // returns: a stop is how it ends
  });
}

TEST(serve_drain, connections_that_take_too_long_are_stopped) {
  on_every_home([]() -> task<void> {
    const std::size_t before = open_descriptors();
    for (const auto drain : {0ms, 2ms}) {
      tandem::event begun;
      std::atomic<tandem::stop_reason> reason{tandem::stop_reason::none};
      const auto handler = [&](tcp_stream stream) -> task<void> {
        begun.set();
        try {
          std::byte byte{};
          (void)co_await stream.read(std::span(&byte, 1));
        } catch (const tandem::operation_cancelled& e) {
          reason = e.reason();
          throw;  // no failure: nobody is told
        }
      };
      serve_options options;
      options.drain_timeout = drain;
      options.on_handler_error = [](const std::exception_ptr&) { ADD_FAILURE() << "told"; };
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
      auto serving = tandem::spawn(serve(std::move(listener), handler, options));
      co_await begun.wait();
      serving.cancel();
      co_await serving;
      EXPECT_EQ(reason, tandem::stop_reason::deadline);
      EXPECT_TRUE((co_await read_to_end(client)).empty());
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST(serve_drain, a_handler_may_hear_of_it_and_end_early) {
  on_every_home([]() -> task<void> {
    tandem::event begun;
    const auto handler = [&](tcp_stream stream, std::stop_token draining) -> task<void> {
      std::byte byte{};
      begun.set();
      const auto next =
          co_await as_result(tandem::with_stop(draining, stream.read(std::span(&byte, 1))));
      EXPECT_TRUE(next.is_cancelled());
      EXPECT_FALSE(tandem::stop_requested());
      co_await stream.write_all(bytes_of("bye"));
    };
    serve_options options;
    options.drain_timeout = 1h;
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
    auto serving = tandem::spawn(serve(std::move(listener), handler, options));
    co_await begun.wait();
    serving.cancel();
    EXPECT_EQ((co_await read_to_end(client)).size(), 3U);
    co_await serving;
  });
}

TEST(serve_drain, what_a_handler_stops_then_is_no_failure) {
  on_every_home([]() -> task<void> {
    tandem::event begun;
    const auto handler = [&](tcp_stream stream, std::stop_token draining) -> task<void> {
      std::byte byte{};
      begun.set();
      (void)co_await tandem::with_stop(draining, stream.read(std::span(&byte, 1)));
    };
    serve_options options;
    options.on_handler_error = [](const std::exception_ptr&) { ADD_FAILURE(); };
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
    auto serving = tandem::spawn(serve(std::move(listener), handler, options));
    co_await begun.wait();
    serving.cancel();
    co_await serving;
    EXPECT_TRUE((co_await read_to_end(client)).empty());
  });
}

TEST(serve_drain, a_stop_before_it_begins_and_one_at_any_moment_end_it) {
  on_every_home([]() -> task<void> {
    const auto handler = [](tcp_stream stream) -> task<void> {
      (void)co_await as_result(stream.write_all(bytes_of("x")));
    };
    // When the listener is gone the client may not arrive at somebody else's.
    const auto port = tandem::test::refusing_port::for_listeners();
    const std::size_t before = open_descriptors();
    const endpoint here = port.where();
    for (int round = 0; round < 60; ++round) {
      tcp_listener listener = tcp_listener::bind(here);
      auto client = tandem::spawn([](endpoint peer) -> task<void> {
        (void)co_await as_result(tcp_stream::connect(peer));
      }(here));
      co_await tandem::with_timeout(std::chrono::microseconds(round * 10),
                                    serve(std::move(listener), handler));
      co_await client;
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

}  // namespace
