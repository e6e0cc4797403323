// serve_test.cpp: many connections at once: how many, homes, failures, shards. Those over the limit: serve_limit_test.cpp.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/sleep.hpp>
#include <vector>

#include "io/stream/serve_support.hpp"
#include "recording_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::endpoint;
using tandem::io::handler_home;
using tandem::io::serve;
using tandem::io::serve_options;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::echo;
using tandem::test::on_every_home;
using tandem::test::options_for_every_home;
using tandem::test::read_to_end;
using tandem::test::serve_while;
using tandem::test::test_runtime;

task<void> ask_and_compare(endpoint server) {
  tcp_stream stream = co_await tcp_stream::connect(server);
  co_await stream.write_all(bytes_of("question"));
  stream.shutdown();
  const std::vector<std::byte> heard = co_await read_to_end(stream);
  EXPECT_EQ(heard.size(), 8U);
}

task<void> ask_many(endpoint server, int count) {
  co_await with_scope([&](task_scope& clients) -> task<void> {
    for (int i = 0; i < count; ++i) clients.spawn(ask_and_compare(server));
    co_return;
  });
}

TEST(serve, every_peer_is_served_whatever_the_home_of_server_and_handlers) {
  on_every_home([]() -> task<void> {
    for (const serve_options& options : options_for_every_home()) {
      co_await serve_while(echo, options, [](endpoint here) { return ask_many(here, 30); });
    }
  });
}

TEST(serve, a_handler_begins_where_the_options_say) {
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt);
  rt.run([](tandem::executor* workers, tandem::executor* completions) -> task<void> {
    const std::array<std::pair<handler_home, tandem::executor*>, 3> expected{
        std::pair(handler_home::connection_thread, static_cast<tandem::executor*>(nullptr)),
        std::pair(handler_home::completion_pool, completions),
        std::pair(handler_home::workers, workers)};
    for (const auto& [home, where] : expected) {
      serve_options options;
      options.home = home;
      tandem::executor* const wanted = where;
      const auto handler = [wanted](tcp_stream stream) -> task<void> {
        EXPECT_TRUE((wanted != nullptr ? *wanted : stream.thread_executor()).is_current());
        co_await echo(std::move(stream));
      };
      co_await serve_while(handler, options, [](endpoint here) { return ask_many(here, 5); });
    }
  }(&rt.workers(), &pool.executor()));
}

TEST(serve, no_more_connections_than_the_limit_are_served_at_once) {
  on_every_home([]() -> task<void> {
    std::atomic<int> active{0};
    std::atomic<int> most{0};
    const auto handler = [&](tcp_stream stream) -> task<void> {
      const int now = ++active;
      int seen = most;
      while (seen < now && !most.compare_exchange_weak(seen, now)) {}
      co_await tandem::sleep_for(200us);
      co_await echo(std::move(stream));
      --active;
    };
    serve_options options;
    options.max_connections = 3;
    co_await serve_while(handler, options, [](endpoint here) { return ask_many(here, 40); });
    EXPECT_LE(most, 3);
    EXPECT_GE(most, 1);
    EXPECT_EQ(active, 0);
  });
}

TEST(serve, at_the_limit_nothing_is_accepted_until_a_connection_ends) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tandem::event first_may_end;
    std::atomic<int> begun{0};
    const auto handler = [&](tcp_stream stream) -> task<void> {
      const bool first = begun++ == 0;
      if (first) co_await first_may_end.wait();
      co_await stream.write_all(bytes_of("hello"));
    };
    serve_options options;
    options.max_connections = 1;
    co_await serve_while(handler, options, [&](endpoint here) -> task<void> {
      tcp_stream first = co_await tcp_stream::connect(here);
      tcp_stream second = co_await tcp_stream::connect(here);  // in the kernel's queue
      while (begun == 0) co_await tandem::sleep_for(100us);
      co_await tandem::sleep_for(5ms);
      EXPECT_EQ(begun, 1);
      first_may_end.set();
      EXPECT_EQ((co_await read_to_end(first)).size(), 5U);
      EXPECT_EQ((co_await read_to_end(second)).size(), 5U);
    });
    EXPECT_EQ(begun, 2);
  }());
}

TEST(serve, a_failing_handler_ends_its_connection_and_nothing_else) {
  on_every_home([]() -> task<void> {
    std::atomic<int> told{0};
    std::atomic<int> begun{0};
    const auto handler = [&](tcp_stream stream) -> task<void> {
      if (begun++ % 2 == 0) throw std::runtime_error("planned");
      co_await echo(std::move(stream));
    };
    serve_options options;
    options.on_handler_error = [&](const std::exception_ptr& failure) {
      EXPECT_NE(failure, nullptr);
      ++told;
    };
    co_await serve_while(handler, options, [&](endpoint here) -> task<void> {
      int answers = 0;
      for (int i = 0; i < 20; ++i) {
        tcp_stream stream = co_await tcp_stream::connect(here);
        const auto sent = co_await as_result(stream.write_all(bytes_of("question")));
        (void)sent;  // the server may have closed it already
        std::array<std::byte, 16> buffer;
        auto got = co_await as_result(stream.read(buffer));
        if (got && got.value() == 8) ++answers;
      }
      EXPECT_EQ(answers, 10);
    });
    EXPECT_EQ(told, 10);
  });
}

TEST(serve, a_handler_that_throws_before_it_returns_a_task_fails_like_any_other) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::atomic<int> told{0};
    serve_options options;
    options.on_handler_error = [&](const std::exception_ptr&) {
      ++told;
      throw std::logic_error("a hook should not throw, and ends nothing either");
    };
    const auto handler = [](tcp_stream stream) -> task<void> {  // NOLINT: as handlers are
      if (stream.is_open()) throw std::runtime_error("no");
      return echo(tcp_stream());
    };
    co_await serve_while(handler, options, [](endpoint here) -> task<void> {
      for (int i = 0; i < 3; ++i) {
        tcp_stream stream = co_await tcp_stream::connect(here);
        EXPECT_TRUE((co_await read_to_end(stream)).empty());
      }
    });
    EXPECT_EQ(told, 3);
  }());
}

TEST(serve, without_a_hook_failures_are_lines_that_name_the_server) {
  tandem::test::recording_runtime rt;
  testing::internal::CaptureStderr();
  rt.run([]() -> task<void> {
    const auto handler = [](tcp_stream) -> task<void> {
      throw std::runtime_error("planned");
      co_return;
    };
    co_await serve_while(handler, serve_options(), [](endpoint here) -> task<void> {
      for (int i = 0; i < 3; ++i) {
        tcp_stream stream = co_await tcp_stream::connect(here);
        EXPECT_TRUE((co_await read_to_end(stream)).empty());
      }
    });
  }());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("tandem::io: a connection of the server at "), std::string::npos) << said;
  EXPECT_NE(said.find("serve_support.hpp:"), std::string::npos) << said;
  EXPECT_NE(said.find(" failed: planned"), std::string::npos) << said;
  // At most one a second, and what was left out is counted.
  EXPECT_NE(said.find("more", said.find("planned")), std::string::npos) << said;
  EXPECT_TRUE(rt.suppressed().empty());
}

using tandem::io::detail::serves_streams;
static_assert(serves_streams<task<void> (*)(tcp_stream), tcp_stream>);
static_assert(serves_streams<task<void> (*)(tcp_stream, std::stop_token), tcp_stream>);
static_assert(!serves_streams<void (*)(tcp_stream), tcp_stream>);
static_assert(!serves_streams<task<int> (*)(tcp_stream), tcp_stream>);
static_assert(!serves_streams<task<void> (*)(tcp_stream&), tcp_stream>);
static_assert(!serves_streams<task<void> (*)(const tcp_stream&), tcp_stream>);
static_assert(!serves_streams<task<void> (*)(), tcp_stream>);
using tandem::io::any_stream;
static_assert(serves_streams<task<void> (*)(any_stream), tcp_stream>);
static_assert(serves_streams<task<void> (*)(any_stream, std::stop_token), tcp_stream>);
static_assert(!serves_streams<task<void> (*)(const any_stream&), tcp_stream>);
static_assert(!serves_streams<task<void> (*)(any_stream&), tcp_stream>);
static_assert(!serves_streams<task<void> (*)(tcp_stream), any_stream>);

TEST(serve, a_listener_that_is_closed_is_an_error) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tcp_listener none;
    const auto got = co_await as_result(serve(std::move(none), echo));
    EXPECT_EQ(got.error(), std::errc::bad_file_descriptor);
    std::vector<tcp_listener> no_listeners;
    EXPECT_THROW(co_await serve(std::move(no_listeners), echo), std::invalid_argument);
  }());
}

TEST(serve, connections_are_named_after_the_call) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::atomic<unsigned> named{0};
    const auto handler = [&named](tcp_stream) -> task<void> {
      const std::string file = tandem::current_environment()->spawned_at().file_name();
      if (file.find("serve_test") != std::string::npos) ++named;
      co_return;
    };
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const endpoint here = listener.local_endpoint();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(serve(std::move(listener), handler));
      tcp_stream client = co_await tcp_stream::connect(here);
      EXPECT_TRUE((co_await read_to_end(client)).empty());
      scope.request_stop();
    });
    EXPECT_EQ(named.load(), 1U);
  }());
}

TEST(serve_sharded, peers_are_spread_over_the_threads_and_stay_on_theirs) {
  test_runtime rt;
  tandem::io::completion_options completion;
  completion.min_threads = 2;
  completion.adaptive = false;
  tandem::io::install(*rt, completion);
  rt.run([]() -> task<void> {
    std::array<std::atomic<int>, 2> served{};
    const auto handler = [&served](tcp_stream stream) -> task<void> {
      const int begun_on = tandem::io::current_completion_index();
      EXPECT_TRUE(stream.thread_executor().is_current());
      ++served.at(static_cast<std::size_t>(begun_on));
      co_await echo(std::move(stream));
      EXPECT_EQ(tandem::io::current_completion_index(), begun_on);
    };
    std::vector<tcp_listener> shards = tcp_listener::bind_sharded(endpoint::loopback_v4(0));
    EXPECT_EQ(shards.size(), 2U);
    const endpoint here = shards.front().local_endpoint();
    EXPECT_EQ(shards.back().local_endpoint(), here);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(serve(std::move(shards), handler));
      co_await ask_many(here, 64);
      scope.request_stop();
    });
    EXPECT_EQ(served[0] + served[1], 64);
    EXPECT_GT(served[0], 0);
    EXPECT_GT(served[1], 0);
  }());
}

}  // namespace
