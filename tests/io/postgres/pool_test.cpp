// pool_test.cpp: so many connections and no more, in order, whole ones only.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/event.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "io/postgres/postgres_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;
using postgres::connection;
using postgres::errc;
using postgres::pool_options;
using tandem::as_result;
using tandem::task;

class postgres_pool : public with_postgres {
 protected:
  static pool_options with_most(std::size_t most) {
    pool_options options;
    options.max_connections = most;
    return options;
  }
};

TEST_F(postgres_pool, many_tasks_share_few_connections) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    postgres::pool pool(conninfo_of(server()), with_most(3));
    std::atomic<int> right = 0;
    const auto many = [&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 200; ++i) {
        const auto asks = [](postgres::pool& of, int number,
                             std::atomic<int>& count) -> task<void> {
          const auto got = co_await of.query<int>("select $1::int", number);
          if (got.at(0) == number) ++count;
        };
        scope.spawn(asks(pool, i, right));
      }
      co_return;
    };
    co_await tandem::with_scope(many);
    EXPECT_EQ(right, 200);
    const postgres::pool_stats now = pool.stats();
    EXPECT_LE(now.opened, 3U);
    EXPECT_EQ(now.in_use, 0U);
    EXPECT_EQ(now.waiting, 0U);
    EXPECT_EQ(now.idle, now.opened);
    const int sum = co_await pool.with_transaction([](postgres::transaction& t) -> task<int> {
      co_return (co_await t.query<int>("select 1 + 1")).at(0);
    });
    EXPECT_EQ(sum, 2);
  }());
}

/// Waits for a connection, and notes who has got it.
task<void> note_its_turn(postgres::pool& of, int number, std::vector<int>& told) {
  const auto body = [&told, number](connection&) -> task<void> {
    told.push_back(number);
    co_return;
  };
  co_await of.with_connection(body);
}

TEST_F(postgres_pool, who_waits_gets_one_in_order_or_is_refused) {
  test_runtime rt(1);  // with two, whoever is counted as waiting may not be in the line yet
  rt.run([]() -> task<void> {
    pool_options options = with_most(1);
    options.max_waiting = 3;
    options.acquire_limit = 10s;
    postgres::pool pool(conninfo_of(server()), options);
    std::vector<int> order;
    const auto holds = [&](connection&) -> task<void> {
      const auto many = [&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < 3; ++i) {
          scope.spawn(note_its_turn(pool, i, order));
          while (pool.stats().waiting != static_cast<std::size_t>(i) + 1) co_await tandem::yield();
        }
        const std::string why = co_await failure_text(pool.query("select 1"), errc::pool_exhausted);
        EXPECT_TRUE(contains(why, "max_waiting")) << why;
        const auto stopped = co_await as_result(tandem::with_timeout(1ms, pool.query("select 1")));
        EXPECT_FALSE(stopped.has_value());
        scope.request_stop();
        co_await scope.join();
      };
      (void)co_await as_result(tandem::with_scope(many));
    };
    co_await pool.with_connection(holds);
    EXPECT_TRUE(order.empty());  // they were stopped while they waited
    EXPECT_EQ(pool.stats().waiting, 0U);
    const auto in_order = [&](tandem::task_scope& scope) -> task<void> {
      tandem::event go;
      const auto first = [&](connection&) -> task<void> { co_await go.wait(); };
      const auto begins = [&]() -> task<void> { co_await pool.with_connection(first); };
      scope.spawn(begins);
      while (pool.stats().in_use != 1) co_await tandem::yield();
      for (int i = 0; i < 3; ++i) {
        scope.spawn(note_its_turn(pool, i, order));
        while (pool.stats().waiting != static_cast<std::size_t>(i) + 1) co_await tandem::yield();
      }
      go.set();
      co_await scope.join();
    };
    co_await tandem::with_scope(in_order);
    const std::vector<int> expected = {0, 1, 2};
    EXPECT_EQ(order, expected);
  }());
}

TEST_F(postgres_pool, one_that_waits_too_long_is_refused) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    pool_options options = with_most(1);
    options.acquire_limit = 30ms;
    postgres::pool pool(conninfo_of(server()), options);
    const auto holds = [&](connection&) -> task<void> {
      const std::string why = co_await failure_text(pool.query("select 1"), errc::pool_exhausted);
      EXPECT_TRUE(contains(why, "acquire_limit")) << why;
      EXPECT_TRUE(contains(why, "raise max_connections") && contains(why, "waits for itself"))
          << why;
    };
    // The first one may take longer than that to open.
    postgres::pool* const of = &pool;
    while (true) {
      const auto got = co_await as_result(of->query("select 1"));
      if (got.has_value()) break;
    }
    co_await pool.with_connection(holds);
    EXPECT_EQ(pool.stats().waiting, 0U);
  }());
}

TEST_F(postgres_pool, broken_ones_are_replaced_and_nobody_sees_it) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    pool_options options = with_most(2);
    options.check_after = 0ms;
    postgres::pool pool(conninfo_of(server()), options);
    connection kills = co_await connect_to(server());
    for (int i = 0; i < 5; ++i) {
      const auto process = co_await pool.query<int>("select pg_backend_pid()");
      (void)co_await kills.query("select pg_terminate_backend($1)", process.at(0));
      while (true) {
        const auto left = co_await kills.query<int>(
            "select count(*)::int from pg_stat_activity where pid = $1", process.at(0));
        if (left.at(0) == 0) break;
      }
      EXPECT_EQ((co_await pool.query<int>("select 1")).at(0), 1);
    }
    EXPECT_GE(pool.stats().replaced, 5U);
  }());
}

TEST_F(postgres_pool, what_an_owner_leaves_behind_is_rolled_back) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    postgres::pool pool(conninfo_of(server()), with_most(1));
    const auto leaves = [](connection& c) -> task<void> {
      co_await make_table(c, "left_behind", "i int");
      (void)co_await c.execute("begin; insert into left_behind values (1)");
    };
    co_await pool.with_connection(leaves);
    EXPECT_EQ((co_await pool.query<int>("select count(*)::int from left_behind")).at(0), 0);
    const auto copies = [](connection& c) -> task<void> {
      auto in = co_await c.copy_in("copy left_behind from stdin");
      co_await in.write_all("1\n");
    };
    co_await pool.with_connection(copies);
    EXPECT_EQ((co_await pool.query<int>("select count(*)::int from left_behind")).at(0), 0);
    EXPECT_EQ(pool.stats().opened, 1U);
    const auto closes = [](connection& c) -> task<void> {
      c.close();
      co_return;
    };
    co_await pool.with_connection(closes);
    EXPECT_EQ((co_await pool.query<int>("select 1")).at(0), 1);
    EXPECT_EQ(pool.stats().opened, 2U);
  }());
}

TEST_F(postgres_pool, old_and_idle_ones_go_and_min_idle_stay) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    pool_options options = with_most(4);
    options.min_idle = 2;
    options.idle_limit = 0ms;
    postgres::pool pool(conninfo_of(server()), options);
    co_await pool.warm_up();
    EXPECT_EQ(pool.stats().idle, 2U);
    (void)co_await pool.query("select 1");
    EXPECT_EQ(pool.stats().idle, 2U);
    pool_options young = with_most(4);
    young.lifetime = 0ms;
    postgres::pool fleeting(conninfo_of(server()), young);
    (void)co_await fleeting.query("select 1");
    EXPECT_EQ(fleeting.stats().idle, 0U);
    pool.close();
    EXPECT_EQ(pool.stats().idle, 0U);
    (void)co_await failure_text(pool.query("select 1"), errc::closed);
  }());
}

TEST_F(postgres_pool, a_server_that_comes_back_is_waited_for) {
  test_server own("postgres");
  test_runtime rt;
  rt.run([](test_server& at) -> task<void> {
    pool_options options = with_most(2);
    options.first_pause = 1ms;
    options.longest_pause = 20ms;
    postgres::pool pool(conninfo_of(at), options);
    EXPECT_EQ((co_await pool.query<int>("select 1")).at(0), 1);
    co_await tandem::blocking([&] { at.kill(); });
    const auto both = [&](tandem::task_scope& scope) -> task<void> {
      const auto waits = [&]() -> task<void> {
        EXPECT_EQ((co_await pool.query<int>("select 2")).at(0), 2);
      };
      scope.spawn(waits);
      co_await tandem::blocking([&] { at.start(); });
      co_await scope.join();
    };
    co_await tandem::with_scope(both);
    EXPECT_GE(pool.stats().replaced, 1U);
    pool_options hasty = with_most(2);
    hasty.acquire_limit = 1s;
    postgres::pool nowhere("host=127.0.0.1 port=1 gssencmode=disable", hasty);
    (void)co_await failure_text(nowhere.query("select 1"), errc::cannot_connect);
    pool_options none = with_most(0);
    EXPECT_THROW(postgres::pool("", none), postgres::error);
  }(own));
}

}  // namespace
