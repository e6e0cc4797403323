// spreading_test.cpp: connections are spread over all threads that there may be, and threads come for them.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/stop.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::decision_reason;
using tandem::executor;
using tandem::pool_action;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::test_runtime;
using tandem::test::threads_between;

/// Neither load nor a stall brings a thread, and none goes: what comes, comes for connections.
completion_options for_connections(unsigned most) {
  completion_options options = threads_between(1, most);
  options.adaptive = true;
  options.adaptive.saturated_periods = 1'000'000;
  options.adaptive.stalled_for = 1h;
  options.adaptive.keep_alive = 24h;
  return options;
}

std::vector<unsigned> count_by_thread(completion_pool& pool, std::span<connection> all,
                                      unsigned threads) {
  std::vector<unsigned> counts(threads);
  for (connection& each : all) {
    for (unsigned i = 0; i < threads; ++i) {
      for (tcp_stream* end : {&each.client, &each.server}) {
        if (&end->thread_executor() == &pool.thread(i).executor()) ++counts[i];
      }
    }
  }
  return counts;
}

task<void> make_connections(std::vector<connection>& out, unsigned count) {
  for (unsigned i = 0; i < count; ++i) out.push_back(co_await make_connection());
}

task<void> write_one(tcp_stream& to) {
  const std::byte byte{1};
  co_await to.write_all(std::span(&byte, 1));
}
task<void> read_one(tcp_stream& from) {
  std::byte byte{};
  EXPECT_EQ(co_await from.read(std::span(&byte, 1)), 1U);
}
/// A byte from one end, which lives on the workers, to the other one, which lives where it is.
void serve_one(test_runtime& rt, connection& both, executor& home) {
  rt.run(write_one(both.client));
  tandem::sync_wait(home, read_one(both.server));
}
void serve_one(test_runtime& rt, connection& both) {
  serve_one(rt, both, both.server.thread_executor());
}

void wait_for_size(const completion_pool& pool, unsigned size) {
  while (pool.size() != size) std::this_thread::sleep_for(1ms);
}

TEST(spreading, connections_are_spread_from_the_first_one_on) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(4));
  std::vector<connection> all;
  rt.run(make_connections(all, 64));
  const std::vector<unsigned> counts = count_by_thread(pool, all, 4);
  // Both ends count; a listener that comes and goes between may put one or two elsewhere.
  EXPECT_GE(*std::min_element(counts.begin(), counts.end()), 30U);
  EXPECT_LE(*std::max_element(counts.begin(), counts.end()), 34U);
}

task<void> connect_some(tandem::io::endpoint peer, std::vector<tcp_stream>& out) {
  for (int i = 0; i < 8; ++i) out.push_back(co_await tcp_stream::connect(peer));
}

TEST(spreading, a_task_on_a_completion_thread_connects_on_its_own) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(4));
  tcp_listener listener =
      tcp_listener::bind(pool, tandem::io::endpoint::loopback_v4(0));  // of some thread
  for (unsigned i = 0; i < 4; ++i) {
    executor& home = pool.thread(i).executor();
    std::vector<tcp_stream> made;
    tandem::sync_wait(home, connect_some(listener.local_endpoint(), made));
    for (tcp_stream& each : made) EXPECT_EQ(&each.thread_executor(), &home) << i;
  }
}

TEST(spreading, connections_of_tasks_on_the_workers_bring_no_thread) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(4));
  std::vector<connection> all;
  rt.run(make_connections(all, 32));
  for (connection& each : all) serve_one(rt, each, rt.workers());
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_TRUE(pool.decisions().empty());
}

TEST(spreading,
     whoever_serves_on_completion_threads_brings_one_for_each_connection_up_to_the_most) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(4));
  std::vector<connection> all;
  rt.run(make_connections(all, 6));
  for (std::size_t i = 0; i < all.size(); ++i) {
    serve_one(rt, all[i]);
    wait_for_size(pool, std::min<unsigned>(static_cast<unsigned>(i) + 1, 4));
  }
  for (const tandem::pool_decision& each : pool.decisions()) {
    EXPECT_EQ(each.action, pool_action::inject);
    EXPECT_EQ(each.reason, decision_reason::connections) << to_string(each);
  }
  EXPECT_EQ(pool.stats().injections[static_cast<std::size_t>(decision_reason::connections)], 3U);
}

TEST(spreading, one_that_is_served_again_and_again_is_one) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(4));
  std::vector<connection> all;
  rt.run(make_connections(all, 1));
  for (int i = 0; i < 50; ++i) {
    serve_one(rt, all[0]);
  }
  EXPECT_EQ(pool.size(), 1U);
}

TEST(spreading, tasks_that_any_completion_thread_may_run_count_as_those_of_one) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(3));
  std::vector<connection> all;
  rt.run(make_connections(all, 3));
  for (connection& each : all) serve_one(rt, each, pool.executor());
  wait_for_size(pool, 3);
}

TEST(spreading, receive_counts_as_reading_does) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(2));
  std::vector<connection> all;
  rt.run(make_connections(all, 2));
  for (connection& each : all) {
    rt.run(write_one(each.client));
    tandem::sync_wait(each.server.thread_executor(), [](tcp_stream& from) -> task<void> {
      EXPECT_EQ((co_await from.receive()).bytes().size(), 1U);
    }(each.server));
  }
  wait_for_size(pool, 2);
}

TEST(spreading, those_that_have_gone_are_not_counted) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(4));
  for (int i = 0; i < 20; ++i) {
    std::vector<connection> all;
    rt.run(make_connections(all, 1));
    serve_one(rt, all[0]);
  }
  EXPECT_EQ(pool.size(), 1U);
}

TEST(spreading, each_thread_is_where_its_connections_are_while_threads_come) {
  // A pool in which guests move, and tasks check that nothing else runs beside them.
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(8));
  std::vector<connection> all;
  rt.run(make_connections(all, 24));
  std::vector<std::atomic<int>> inside(8);
  rt.run([](completion_pool& io, std::vector<connection>& served,
            std::vector<std::atomic<int>>& in) -> task<void> {
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (connection& each : served) {
        executor& home = each.server.thread_executor();
        unsigned index = 0;
        while (&io.thread(index).executor() != &home) ++index;
        scope.spawn(home, [](connection& both, std::atomic<int>& alone) -> task<void> {
          for (int i = 0; i < 200; ++i) {
            EXPECT_EQ(alone.fetch_add(1), 0);
            EXPECT_TRUE(both.server.thread_executor().is_current());
            alone.fetch_sub(1);
            co_await write_one(both.client);
            co_await read_one(both.server);
          }
        }(each, in[index]));
      }
      co_await scope.join();
    });
  }(pool, all, inside));
  wait_for_size(pool, 8);
}

TEST(spreading, shards_are_made_for_all_threads_that_there_may_be_and_bring_none) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, for_connections(4));
  rt.run([](completion_pool& io) -> task<void> {
    std::vector<tcp_listener> shards =
        tcp_listener::bind_sharded(tandem::io::endpoint::loopback_v4(0));
    EXPECT_EQ(shards.size(), 4U);
    const tandem::io::endpoint where = shards.front().local_endpoint();
    std::atomic<int> served{0};
    auto server =
        tandem::spawn([](std::vector<tcp_listener> all, std::atomic<int>& count) -> task<void> {
          co_await tandem::io::serve(std::move(all), [&count](tcp_stream client) -> task<void> {
            std::byte byte{};
            while (co_await client.read(std::span(&byte, 1)) != 0) {
              ++count;
              co_await client.write_all(std::span(&byte, 1));
            }
          });
        }(std::move(shards), served));
    co_await tandem::sleep_for(20ms);
    EXPECT_EQ(io.size(), 1U);  // whoever only listens serves nobody
    std::vector<tcp_stream> clients;
    for (int i = 0; i < 16; ++i) {
      clients.push_back(co_await tcp_stream::connect(where));
      std::byte byte{1};
      co_await clients.back().write_all(std::span(&byte, 1));
      EXPECT_EQ(co_await clients.back().read(std::span(&byte, 1)), 1U);
    }
    EXPECT_EQ(served, 16);
    while (io.size() < 4) co_await tandem::sleep_for(1ms);
    clients.clear();
    server.cancel();
    (void)co_await tandem::as_result(std::move(server));
  }(pool));
}

TEST(spreading, connections_bring_a_thread_once_however_often_it_retires) {
  test_runtime rt;
  completion_options options = for_connections(4);
  options.adaptive.keep_alive = 1ms;
  options.adaptive.period = 4ms;
  options.adaptive.looks = 4;
  options.adaptive.max_back_off = 1;
  completion_pool& pool = tandem::io::install(*rt, options);
  std::vector<connection> all;
  rt.run(make_connections(all, 8));
  for (int round = 0; round < 20; ++round) {
    for (connection& each : all) serve_one(rt, each);
    wait_for_size(pool, 1);
  }
  // The first one found a thread.
  EXPECT_LE(pool.stats().injections[static_cast<std::size_t>(decision_reason::connections)], 7U);
}

TEST(spreading, a_number_that_is_fixed_stays) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(2, 2));
  std::vector<connection> all;
  rt.run(make_connections(all, 16));
  for (connection& each : all) {
    serve_one(rt, each);
  }
  EXPECT_EQ(pool.size(), 2U);
  const std::vector<unsigned> counts = count_by_thread(pool, all, 2);
  EXPECT_GE(*std::min_element(counts.begin(), counts.end()), 14U);
}

}  // namespace
