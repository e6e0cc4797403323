// driven_runtime_test.cpp: I/O in runtimes without threads, and under a virtual clock.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/clock.hpp>
#include <tandem/event.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;

task<tcp_stream> accepted(tcp_listener& listener) { co_return co_await listener.accept(); }
task<tcp_stream> connected(endpoint peer) { co_return co_await tcp_stream::connect(peer); }

/// Exchanges some bytes over a new connection.
task<void> exchange(tcp_listener& listener) {
  auto [server, client] =
      co_await tandem::fork_join(accepted(listener), connected(listener.local_endpoint()));
  std::vector<std::byte> out(1000, std::byte{3});
  co_await client.write_all(out);
  std::vector<std::byte> in(out.size());
  std::size_t have = 0;
  while (have < in.size()) have += co_await server.read(std::span(in).subspan(have));
  EXPECT_EQ(in, out);
}

tandem::runtime_options simulated(std::uint64_t seed) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(seed, 2);
  return options;
}

TEST(driven_io, a_runtime_without_threads_serves_connections_from_its_owners_thread) {
  tandem::runtime_options options;
  options.min_threads = 0;
  tandem::run(
      []() -> task<void> {
        tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
        for (int i = 0; i < 20; ++i) co_await exchange(listener);
        co_await tandem::sleep_for(1ms);
      }(),
      options);
}

task<void> tick(bool& over, int& ticks) {
  while (!over) {
    co_await tandem::sleep_for(1s);
    ++ticks;
  }
}

TEST(driven_io, operations_in_flight_hold_a_virtual_clock) {
  int ticks = 0;
  tandem::run(
      [](int& count) -> task<void> {
        tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
        bool over = false;
        auto ticking = tandem::spawn(tick(over, count));
        for (int i = 1; i <= 10; ++i) {
          const auto before = tandem::now();
          co_await exchange(listener);
          EXPECT_LE(tandem::now() - before, 1s) << "real waits took virtual time";
          co_await tandem::sleep_for(1h);
        }
        over = true;
        co_await std::move(ticking);
      }(ticks),
      simulated(5));
  // Ten hours of ticks, and none of them while bytes were under way.
  EXPECT_GE(ticks, 36'000);
}

task<int> hops(tcp_stream& stream, tandem::executor& workers) {
  int count = 0;
  for (int i = 0; i < 50; ++i) {
    co_await tandem::resume_on(stream.thread_executor());
    count += tandem::current_worker_index() == -1 ? 1 : 0;
    co_await tandem::resume_on(workers);
    count += tandem::current_worker_index() >= 0 ? 1 : 0;
  }
  co_return count;
}

TEST(driven_io, a_task_that_visits_a_completion_thread_holds_a_virtual_clock) {
  tandem::run(
      []() -> task<void> {
        tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
        auto [server, client] =
            co_await tandem::fork_join(accepted(listener), connected(listener.local_endpoint()));
        bool over = false;
        int ticks = 0;
        auto ticking = tandem::spawn(tick(over, ticks));
        const auto before = tandem::now();
        const int count =
            co_await hops(server, tandem::current_environment()->runtime()->workers());
        EXPECT_EQ(count, 100);
        EXPECT_LE(tandem::now() - before, 1s);
        over = true;
        co_await std::move(ticking);
      }(),
      simulated(6));
}

// What a completion thread posted to itself did not hold the clock: a good program was called
// stalled.
task<tcp_stream> one_end(tcp_listener& listener) {
  auto [server, client] =
      co_await tandem::fork_join(accepted(listener), connected(listener.local_endpoint()));
  co_return std::move(server);
}

TEST(driven_io, a_task_that_gives_way_on_a_completion_thread_holds_a_virtual_clock) {
  tandem::run(
      []() -> task<void> {
        tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
        tcp_stream stream = co_await one_end(listener);
        bool over = false;
        int ticks = 0;
        auto ticking = tandem::spawn(tick(over, ticks));
        const auto before = tandem::now();
        co_await tandem::spawn(stream.thread_executor(), []() -> task<void> {
          for (int i = 0; i < 10'000; ++i) co_await tandem::yield();
        }());
        EXPECT_LE(tandem::now() - before, 1s) << "a task that runs took virtual time";
        over = true;
        co_await std::move(ticking);
      }(),
      simulated(7));
}

/// Moves between the executor that all completion threads share and one that is confined.
task<int> changes_of_place(tandem::executor& shared, tandem::executor& confined) {
  int rounds = 0;
  for (int i = 0; i < 50; ++i) {
    co_await tandem::resume_on(shared);
    auto there = tandem::spawn(confined, []() -> task<int> {
      int yields = 0;
      for (; yields < 200; ++yields) co_await tandem::yield();
      co_return yields;
    }());
    rounds += co_await there;
  }
  co_return rounds;
}

tandem::io::completion_options one_thread() {
  tandem::io::completion_options options;
  options.min_threads = 1;
  options.max_threads = 1;
  return options;
}

TEST(driven_io, a_program_that_only_lives_on_a_completion_thread_is_not_stalled) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    tandem::runtime rt(simulated(seed));
    tandem::io::completion_pool& pool = tandem::io::install(rt, one_thread());
    auto handle = rt.spawn([](tandem::io::completion_pool& own) -> task<int> {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      tcp_stream stream = co_await one_end(listener);
      co_return co_await changes_of_place(own.executor(), stream.thread_executor());
    }(pool));
    EXPECT_EQ(handle.wait(), 10'000) << "seed " << seed;
  }
}

task<void> count_after(tandem::event& begin, int& woken) {
  co_await begin.wait();
  for (int i = 0; i < 200; ++i) co_await tandem::yield();
  ++woken;
}

TEST(driven_io, a_batch_that_a_completion_thread_wakes_at_home_is_not_stalled) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    tandem::runtime rt(simulated(seed));
    tandem::io::completion_pool& pool = tandem::io::install(rt, one_thread());
    auto handle = rt.spawn([](tandem::io::completion_pool& own) -> task<void> {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      tcp_stream stream = co_await one_end(listener);
      tandem::event begin;
      int woken = 0;  // by the completion thread alone
      auto body = [&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < 5; ++i) {
          scope.spawn(stream.thread_executor(), count_after(begin, woken));
        }
        scope.spawn(own.executor(), [](tandem::event& all) -> task<void> {
          for (int i = 0; i < 100; ++i) co_await tandem::yield();
          all.set();
        }(begin));
        co_return;
      };
      co_await tandem::with_scope(body);
      EXPECT_EQ(woken, 5);
    }(pool));
    handle.wait();
  }
}

}  // namespace
