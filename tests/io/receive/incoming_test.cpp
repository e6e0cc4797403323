// incoming_test.cpp: connections that are accepted without being asked each time.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"
#include "refusing_port.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;
using tandem::test::read_to_end;
using tandem::test::test_runtime;

task<tcp_stream> next_of(tcp_listener& listener) { co_return co_await listener.incoming(); }

/// Waits until the process has so many descriptors, for those that close on another thread.
task<void> until_open(std::size_t count) {
  while (open_descriptors() != count) co_await tandem::sleep_for(1ms);
}

TEST(incoming, each_connection_is_yielded_once_and_works) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const endpoint here = listener.local_endpoint();
    constexpr int connections = 100;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < connections; ++i) {
        scope.spawn([](endpoint where, unsigned number) -> task<void> {
          tcp_stream client = co_await tcp_stream::connect(where);
          const std::byte sent{static_cast<unsigned char>(number)};
          co_await client.write_all(std::span(&sent, 1));
          client.shutdown(tandem::io::shutdown_kind::write);
          const std::vector<std::byte> back = co_await read_to_end(client);
          EXPECT_EQ(back, std::vector<std::byte>{sent});
        }(here, static_cast<unsigned>(i)));
      }
      for (int i = 0; i < connections; ++i) {
        scope.spawn([](tcp_stream stream) -> task<void> {
          const std::vector<std::byte> all = co_await read_to_end(stream);
          co_await stream.write_all(all);
        }(co_await listener.incoming()));
      }
    });
  });
}

TEST(incoming, a_stop_ends_the_wait_and_loses_no_connection) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    for (int round = 0; round < 50; ++round) {
      std::stop_source source;
      auto connecting =
          tandem::spawn([](endpoint where, std::stop_source stops) -> task<tcp_stream> {
            tcp_stream client = co_await tcp_stream::connect(where);
            stops.request_stop();  // at the same time as the connection comes
            co_return client;
          }(listener.local_endpoint(), source));
      auto waited =
          co_await tandem::as_result(tandem::with_stop(source.get_token(), next_of(listener)));
      const tcp_stream client = co_await connecting;
      tcp_stream server;
      if (waited) {
        server = std::move(waited).value();
      } else {
        EXPECT_TRUE(waited.is_cancelled());
        server = co_await listener.incoming();
      }
      EXPECT_EQ(server.remote_endpoint(), client.local_endpoint());
    }
  });
}

TEST(incoming, what_nobody_has_taken_is_closed_with_the_listener) {
  on_every_home([]() -> task<void> {
    const std::size_t before = open_descriptors();
    for (int round = 0; round < 10; ++round) {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      std::vector<tcp_stream> clients;
      for (int i = 0; i < 20; ++i) {
        clients.push_back(co_await tcp_stream::connect(listener.local_endpoint()));
      }
      const tcp_stream taken = co_await listener.incoming();
      listener.close();
      unsigned ended = 0;
      for (tcp_stream& each : clients) {
        if (each.local_endpoint() == taken.remote_endpoint()) continue;
        std::byte byte{};
        auto got = co_await tandem::as_result(each.read(std::span(&byte, 1)));
        ended += !got || got.value() == 0 ? 1 : 0;
      }
      EXPECT_EQ(ended, 19U);
    }
    co_await until_open(before);
  });
}

TEST(incoming, a_listener_that_was_closed_listens_no_more_when_its_thread_knows) {
  on_every_home([]() -> task<void> {
    const auto port = tandem::test::refusing_port::for_listeners();
    const endpoint where = port.where();
    tcp_listener listener = tcp_listener::bind(where);
    (void)co_await tandem::as_result(tandem::with_timeout(1us, next_of(listener)));
    listener.close();
    bool is_refused = false;  // the watchdog ends what never is
    while (!is_refused) {
      const auto late = co_await tandem::as_result(tcp_stream::connect(where));
      is_refused = late.error() == std::errc::connection_refused;
      if (!is_refused) co_await tandem::sleep_for(1ms);
    }
    EXPECT_TRUE(is_refused);
  });
}

TEST(incoming, a_closed_listener_is_an_error) {
  on_every_home([]() -> task<void> {
    tcp_listener listener;
    const auto got = co_await tandem::as_result(listener.incoming());
    EXPECT_EQ(got.error(), std::errc::bad_file_descriptor);
  });
}

TEST(incoming, goes_on_by_another_thread_when_its_own_retires) {
  test_runtime rt;
  tandem::io::completion_options options;
  options.min_threads = 1;
  options.max_threads = 2;
  options.adaptive = false;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, options);
  pool.resize(2);
  rt.run([](tandem::io::completion_pool& io) -> task<void> {
    std::vector<tcp_listener> listeners = tcp_listener::bind_sharded(endpoint::loopback_v4(0));
    listeners.push_back(tcp_listener::bind(endpoint::loopback_v4(0)));
    listeners.push_back(tcp_listener::bind(endpoint::loopback_v4(0)));
    for (int round = 0; round < 10; ++round) {
      io.resize(1 + static_cast<unsigned>(round) % 2);
      for (std::size_t i = 2; i < listeners.size(); ++i) {
        auto waits = tandem::spawn(next_of(listeners[i]));
        const tcp_stream client = co_await tcp_stream::connect(listeners[i].local_endpoint());
        const tcp_stream server = co_await waits;
        EXPECT_EQ(server.remote_endpoint(), client.local_endpoint());
      }
    }
  }(pool));
}

}  // namespace
