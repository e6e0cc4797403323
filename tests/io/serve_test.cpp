// serve_test.cpp: many connections at once: limits, homes, failures, shards.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io_support.hpp"
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
using tandem::test::on_every_home;
using tandem::test::read_to_end;
using tandem::test::test_runtime;

task<void> echo(tcp_stream stream) {
  std::array<std::byte, 1024> buffer;
  while (const std::size_t n = co_await stream.read(buffer)) {
    co_await stream.write_all(std::span(buffer).first(n));
  }
}

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

/// serve() with these options beside `use(address)`; stopped when that has ended.
template <class Handler, class Use>
task<void> serve_while(Handler handler, serve_options options, Use use) {
  tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
  const endpoint here = listener.local_endpoint();
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(serve(std::move(listener), handler, options));
    co_await use(here);
    scope.request_stop();
  });
}

TEST(serve, every_peer_is_served_whatever_the_home_of_server_and_handlers) {
  on_every_home([]() -> task<void> {
    for (const handler_home home :
         {handler_home::connection_thread, handler_home::completion_pool, handler_home::workers}) {
      serve_options options;
      options.home = home;
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

TEST(serve, whoever_is_over_the_limit_is_told_so_until_a_place_is_free) {
  on_every_home([]() -> task<void> {
    for (const handler_home home :
         {handler_home::connection_thread, handler_home::completion_pool, handler_home::workers}) {
      tandem::io::serve_counts counts;
      serve_options options;
      options.home = home;
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
        for (int i = 0; i < 3; ++i) {
          tcp_stream late = co_await tcp_stream::connect(here);
          EXPECT_EQ(co_await heard_by(late), "full");
        }
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
    tandem::io::serve_counts counts;
    tandem::event over;
    serve_options options;
    options.max_connections = 1;
    options.max_over_limit = 2;
    options.over_limit_timeout = 1h;
    options.counts = &counts;
    options.over_limit = [&over](tcp_stream stream) -> task<void> {
      co_await over.wait();
      co_await say_full(std::move(stream));
    };
    co_await serve_while(echo, options, [&](endpoint here) -> task<void> {
      std::vector<tcp_stream> clients;
      for (int i = 0; i < 3; ++i) clients.push_back(co_await tcp_stream::connect(here));
      co_await until(counts.over_limit, 2);
      for (int i = 0; i < 5; ++i) {
        tcp_stream late = co_await tcp_stream::connect(here);
        EXPECT_EQ(co_await heard_by(late), "");
      }
      over.set();
      EXPECT_EQ(co_await heard_by(clients[1]), "full");
      EXPECT_EQ(co_await heard_by(clients[2]), "full");
    });
    EXPECT_EQ(counts.served, 1U);
    EXPECT_EQ(counts.over_limit, 2U);
    EXPECT_EQ(counts.closed, 5U);
  });
}

TEST(serve, a_slow_peer_over_the_limit_keeps_its_place_for_a_while_only) {
  on_every_home([]() -> task<void> {
    tandem::io::serve_counts counts;
    std::atomic<int> failures{0};
    serve_options options;
    options.max_connections = 1;
    options.max_over_limit = 1;
    options.over_limit_timeout = 5ms;
    options.counts = &counts;
    options.on_handler_error = [&](const std::exception_ptr&) { ++failures; };
    options.over_limit = [](tcp_stream stream) -> task<void> {
      (void)co_await read_to_end(stream);  // of one that never ends
    };
    co_await serve_while(echo, options, [&](endpoint here) -> task<void> {
      tcp_stream served = co_await tcp_stream::connect(here);
      co_await until(counts.served, 1);
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
    tandem::io::serve_counts counts;
    std::atomic<std::uint64_t> told{0};
    serve_options options;
    options.max_connections = 1;
    options.counts = &counts;
    options.on_handler_error = [&](const std::exception_ptr&) { ++told; };
    options.over_limit = [&counts](tcp_stream stream) -> task<void> {  // NOLINT: as handlers are
      if (counts.over_limit == 1) throw std::runtime_error("before there is a task");
      return [](tcp_stream) -> task<void> {
        throw std::runtime_error("planned");
        co_return;
      }(std::move(stream));
    };
    co_await serve_while(echo, options, [&](endpoint here) -> task<void> {
      tcp_stream served = co_await tcp_stream::connect(here);
      co_await until(counts.served, 1);
      for (std::uint64_t i = 1; i <= 2; ++i) {
        tcp_stream late = co_await tcp_stream::connect(here);
        EXPECT_EQ(co_await heard_by(late), "");
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
    tandem::io::serve_counts counts;
    std::atomic<std::uint64_t> told{0};
    serve_options options;
    options.max_connections = 1;
    options.over_limit_timeout = 1h;
    options.counts = &counts;
    options.on_handler_error = [&](const std::exception_ptr& failure) {
      EXPECT_THROW(std::rethrow_exception(failure), tandem::operation_cancelled);
      ++told;
    };
    options.over_limit = [](tcp_stream stream) -> task<void> {
      (void)co_await tandem::with_timeout(1ms, read_to_end(stream));
    };
    co_await serve_while(echo, options, [&](endpoint here) -> task<void> {
      tcp_stream served = co_await tcp_stream::connect(here);
      co_await until(counts.served, 1);
      tcp_stream late = co_await tcp_stream::connect(here);
      EXPECT_EQ(co_await heard_by(late), "");
      co_await until(told, 1);  // a stop of the server would be no failure
    });
    EXPECT_EQ(told, 1U);
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
  EXPECT_NE(said.find("serve_test.cpp:"), std::string::npos) << said;
  EXPECT_NE(said.find(" failed: planned"), std::string::npos) << said;
  // At most one a second, and what was left out is counted.
  EXPECT_NE(said.find("more", said.find("planned")), std::string::npos) << said;
  EXPECT_TRUE(rt.suppressed().empty());
}

using tandem::io::detail::serves_connections;
static_assert(serves_connections<task<void> (*)(tcp_stream)>);
static_assert(serves_connections<task<void> (*)(tcp_stream, std::stop_token)>);
static_assert(!serves_connections<void (*)(tcp_stream)>);
static_assert(!serves_connections<task<int> (*)(tcp_stream)>);
static_assert(!serves_connections<task<void> (*)(tcp_stream&)>);
static_assert(!serves_connections<task<void> (*)(const tcp_stream&)>);
static_assert(!serves_connections<task<void> (*)()>);

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
