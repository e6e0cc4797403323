// foreign_library_test.cpp: a library that closes descriptors before it tells, driven by a foreign loop.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tandem/clock.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/io/foreign_loop.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tuple>

#include "io/support/closing_library.hpp"
#include "io/support/loop_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::foreign_loop;
using tandem::io::ready_events;
using tandem::io::watch_interest;
using tandem::io::with_foreign_loop;
using tandem::test::closing_library;
using tandem::test::echo;
using tandem::test::on_every_home;
using tandem::test::plain_socket;

/// The glue that its user writes.
void attach(closing_library& library, foreign_loop& loop) {
  library.socket_function = [&](plain_socket descriptor, closing_library::what wanted) {
    if (wanted == closing_library::removed) return loop.forget(descriptor);
    const auto interest =
        wanted == closing_library::in ? watch_interest::read : watch_interest::write;
    loop.watch(descriptor, interest, [&library](plain_socket ready, ready_events events) {
      if (events.writable()) library.can_write(ready);
      if (events.readable() || events.hung_up() || events.error()) library.can_read(ready);
    });
  };
  library.timer_function = [&](closing_library::clock::time_point until) {
    if (until == closing_library::clock::time_point::max()) return loop.no_deadline();
    loop.deadline(until, [&library] { library.time_has_come(tandem::now()); });
  };
}

task<std::tuple<int, std::string>> fetch(closing_library& library, std::uint16_t port,
                                         std::string text, std::chrono::milliseconds limit) {
  co_return co_await tandem::from_callback<void(int, std::string)>([&](auto done) {
    library.fetch(port, std::move(text), tandem::now() + limit, std::move(done));
  });
}

task<void> fetch_many(closing_library& library, std::uint16_t port, int lane) {
  for (int i = 0; i < 25; ++i) {
    const std::string text = std::to_string(lane) + " asks for " + std::to_string(i);
    const auto [error, reply] = co_await fetch(library, port, text, 60s);
    EXPECT_EQ(error, 0);
    EXPECT_EQ(reply, text);
  }
}

/// A server that never answers.
task<void> hold(tandem::io::tcp_stream /*stream*/) {
  tandem::event never;
  co_await never.wait();
}

/// Runs `body(library, port)` in a loop, with a server at that port.
template <class Handler, class Body>
task<void> beside_server(Handler handler, tandem::io::serve_options options, Body body) {
  auto listener = tandem::io::tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
  const std::uint16_t port = listener.local_endpoint().port();
  auto server = tandem::spawn(tandem::io::serve(std::move(listener), handler, options));
  const auto in_loop = [&](foreign_loop& loop) -> task<void> {
    closing_library library;
    attach(library, loop);
    co_await body(library, port);
  };
  co_await with_foreign_loop(in_loop);
  server.cancel();
  co_await server;
}

TEST(foreign_library, all_transfers_of_one_that_closes_before_it_tells_get_their_own_reply) {
  on_every_home([]() -> task<void> {
    constexpr int lanes = 16;
    const auto body = [&](closing_library& library, std::uint16_t port) -> task<void> {
      const auto all = [&](tandem::task_scope& scope) -> task<void> {
        for (int lane = 0; lane < lanes; ++lane) scope.spawn(fetch_many(library, port, lane));
        co_await scope.join();
      };
      co_await tandem::with_scope(all);
      EXPECT_EQ(library.closed(), lanes * 25U);
    };
    const tandem::io::serve_options options;
    co_await beside_server(echo, options, body);
  });
}

TEST(foreign_library, its_timer_ends_a_transfer_that_nobody_answers) {
  on_every_home([]() -> task<void> {
    tandem::io::serve_options options;
    options.drain_timeout = 0ms;
    const auto body = [](closing_library& library, std::uint16_t port) -> task<void> {
      const auto [error, reply] = co_await fetch(library, port, "hello?", 5ms);
      EXPECT_EQ(error, ETIMEDOUT);
      EXPECT_EQ(reply, "");
    };
    co_await beside_server(hold, options, body);
  });
}

TEST(foreign_library, one_that_ends_with_the_body_takes_its_transfers_along) {
  on_every_home([]() -> task<void> {
    auto listener = tandem::io::tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
    int error = 0;
    const auto body = [&](foreign_loop& loop) -> task<void> {
      closing_library library;
      attach(library, loop);
      library.fetch(listener.local_endpoint().port(), "text", tandem::now() + 1h,
                    [&](int how, const std::string&) { error = how; });
      co_return;
    };
    co_await with_foreign_loop(body);
    EXPECT_EQ(error, ECANCELED);
  });
}

}  // namespace
