// stops_test.cpp: a stop at any moment: the connection is usable, or says that it is closed; each transaction was committed or not.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <functional>
#include <random>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/postgres/postgres_support.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;
using postgres::connection;
using postgres::errc;
using postgres::pipeline;
using postgres::transaction;
using tandem::as_result;
using tandem::result;
using tandem::task;

class postgres_stops : public with_postgres {};

constexpr auto otherwise = 1500ms;

std::chrono::microseconds moment(std::mt19937_64& random) {
  const auto most = std::chrono::microseconds(random() % 4 == 0 ? 20'000 : 1500);
  return std::chrono::microseconds(random() % static_cast<std::uint64_t>(most.count()));
}

/// Whatever has become of an operation that was stopped: the connection works, or says it does not.
task<void> expect_whole(connection& c) {
  if (!c.is_usable()) {
    ADD_FAILURE() << "the server confirms each cancel in time here";
    co_return;
  }
  const auto got = co_await c.query<int>("select 41 + $1::int", 1);
  EXPECT_EQ(got, std::vector<int>{42});
}

using operation = std::function<task<void>(connection&)>;

task<void> ask_quickly(connection& c) { EXPECT_EQ((co_await c.query<int>("select 1")).at(0), 1); }
task<void> sleep_there(connection& c) { (void)co_await c.query("select pg_sleep(1000)"); }
task<void> ask_for_much(connection& c) {
  const auto got = co_await c.query<std::string>("select repeat('x', 3000000)");
  EXPECT_EQ(got.at(0).size(), 3'000'000U);
}
task<void> send_much(connection& c) {
  const std::string much(3'000'000, 'y');
  const auto got = co_await c.query<int>("select length($1)", much);
  EXPECT_EQ(got.at(0), 3'000'000);
}
task<void> run_script(connection& c) {
  EXPECT_EQ((co_await c.execute("select 1; select pg_sleep(0.001); select 2")).size(), 3U);
}
task<void> prepare_one(connection& c) {
  const postgres::statement one = co_await c.prepare("select 7");
  EXPECT_EQ((co_await c.query<int>(one)).at(0), 7);
  co_await c.deallocate(one);
}
task<void> copy_there(connection& c) {
  postgres::copy_in in = co_await c.copy_in("copy stop_copies from stdin");
  for (int i = 0; i < 50; ++i) co_await in.write_all(std::string(20'000, '1') + "\n");
  EXPECT_EQ(co_await in.finish(), 50U);
}
task<void> copy_back(connection& c) {
  postgres::copy_out out = co_await c.copy_out(
      "copy (select repeat('x', 1000) from generate_series(1, 2000)) to stdout");
  int count = 0;
  while (true) {
    const auto row = co_await out.read();
    if (row.empty()) break;
    ++count;
  }
  EXPECT_EQ(count, 2000);
}
task<void> send_many(connection& c) {
  const auto body = [](pipeline& p) -> task<void> {
    const std::string much(100'000, 'z');
    std::vector<postgres::pipeline_answer> all;
    for (int i = 0; i < 100; ++i) {
      if (i % 10 == 0) {
        all.push_back(co_await p.send("select $1::text", much));
      } else {
        all.push_back(co_await p.send("select $1::int", i));
      }
      if (i % 25 == 0) co_await p.sync();
    }
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ((co_await all[i].get()).size(), 1U);
  };
  co_await c.with_pipeline(body);
}
task<void> wait_for_a_word(connection& c) {
  co_await c.listen("stops");
  (void)co_await c.next_notification();
}

TEST_F(postgres_stops, any_operation_at_any_moment_leaves_a_whole_connection) {
  const std::vector<operation> all = {ask_quickly, sleep_there,    ask_for_much, send_much,
                                      run_script,  prepare_one,    copy_there,   copy_back,
                                      send_many,   wait_for_a_word};
  test_runtime rt;
  rt.run([](const std::vector<operation>& operations) -> task<void> {
    connection c = co_await connect_to(server());
    co_await make_table(c, "stop_copies", "t text");
    std::mt19937_64 random(stress_seed());
    const auto until = std::chrono::steady_clock::now() + stress_time(otherwise);
    std::size_t round = 0;
    while (round < operations.size() * 3 || std::chrono::steady_clock::now() < until) {
      const operation& chosen = operations[round++ % operations.size()];
      const auto after = moment(random);
      const result<void> got = co_await as_result(tandem::with_timeout(after, chosen(c)));
      if (!got.has_value()) {
        EXPECT_TRUE(got.is_cancelled()) << round << ": " << got.error().message();
      }
      co_await expect_whole(c);
      if (::testing::Test::HasFailure()) co_return;
    }
  }(all));
}

TEST_F(postgres_stops, every_transaction_was_committed_or_rolled_back) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection c = co_await connect_to(server());
    connection counts = co_await connect_to(server());
    co_await make_table(c, "stop_pairs", "round int, half int");
    std::mt19937_64 random(stress_seed());
    const auto until = std::chrono::steady_clock::now() + stress_time(otherwise);
    int committed = 0;
    for (int round = 0; round < 50 || std::chrono::steady_clock::now() < until; ++round) {
      const auto body = [round](transaction& t) -> task<void> {
        (void)co_await t.query("insert into stop_pairs values ($1, 1)", round);
        if (round % 3 == 0) {
          const auto inner = [round](transaction& deeper) -> task<void> {
            (void)co_await deeper.query("insert into stop_pairs values ($1, 2)", round);
          };
          co_await t.with_transaction(inner);
        } else {
          (void)co_await t.query("insert into stop_pairs values ($1, 2)", round);
        }
      };
      const result<void> got =
          co_await as_result(tandem::with_timeout(moment(random) * 2, c.with_transaction(body)));
      if (!got.has_value()) {
        EXPECT_TRUE(got.is_cancelled()) << got.error().message();
      }
      committed += got.has_value() ? 1 : 0;
      const auto halves = co_await counts.query<int>(
          "select count(*)::int from stop_pairs where round = $1", round);
      EXPECT_EQ(halves.at(0), got.has_value() ? 2 : 0) << round;
      co_await expect_whole(c);
      if (::testing::Test::HasFailure()) co_return;
    }
    EXPECT_GT(committed, 0);
  }());
}

TEST_F(postgres_stops, connecting_is_given_up_at_any_moment) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::mt19937_64 random(stress_seed());
    for (int round = 0; round < 40; ++round) {
      auto got = co_await as_result(tandem::with_timeout(moment(random), connect_to(server())));
      if (got.has_value()) {
        co_await expect_whole(got.value());
      } else {
        EXPECT_TRUE(got.is_cancelled()) << got.error().message();
      }
    }
  }());
}

TEST_F(postgres_stops, a_pool_loses_no_connection_by_them) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    postgres::pool_options options;
    options.max_connections = 2;
    options.connections = patient();
    postgres::pool pool(conninfo_of(server()), options);
    std::mt19937_64 random(stress_seed());
    for (int round = 0; round < 100; ++round) {
      const auto body = [](connection& c) -> task<void> {
        (void)co_await c.execute("begin; select 1");  // left behind
        (void)co_await c.query("select pg_sleep(0.002)");
      };
      const result<void> got =
          co_await as_result(tandem::with_timeout(moment(random), pool.with_connection(body)));
      if (!got.has_value()) {
        EXPECT_TRUE(got.is_cancelled()) << got.error().message();
      }
      EXPECT_EQ(pool.stats().in_use, 0U);
    }
    // Both can still be had at the same time.
    const auto outer = [&pool](connection& first) -> task<void> {
      const auto inner = [&first](connection& second) -> task<void> {
        EXPECT_EQ((co_await first.query<int>("select 1")).at(0), 1);
        EXPECT_EQ((co_await second.query<int>("select 2")).at(0), 2);
      };
      co_await pool.with_connection(inner);
    };
    co_await pool.with_connection(outer);
  }());
}

}  // namespace
