// faults_test.cpp: servers that are killed, paused, full, or no servers at all.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <string_view>
#include <tandem/blocking.hpp>
#include <tandem/clock.hpp>
#include <tandem/event.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/postgres/fake_server.hpp"
#include "io/postgres/postgres_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using namespace tandem::test;
using postgres::connection;
using postgres::errc;
using postgres::transaction;
using tandem::as_result;
using tandem::task;

/// Servers that come to harm: each test leaves its own one running again.
class postgres_faults : public with_postgres {
 protected:
  static test_server& victim() {
    static test_server only("postgres");
    return only;
  }
  void SetUp() override {
    with_postgres::SetUp();
    if (has_postgres()) (void)victim();
  }
};

task<void> sleep_there(connection& c) { (void)co_await c.query("select pg_sleep(1000)"); }
task<void> sleep_in_a_pipeline(connection& c) {
  const auto body = [](postgres::pipeline& p) -> task<void> {
    (void)co_await p.query("select pg_sleep(1000)");
  };
  co_await c.with_pipeline(body);
}

/// Until that process of the server's sleeps.
task<void> wait_until_sleeping(connection& asks, int process) {
  while (true) {
    const auto got = co_await asks.query<bool>(
        "select coalesce(bool_or(wait_event = 'PgSleep'), false) from pg_stat_activity where pid = "
        "$1",
        process);
    if (got.at(0)) co_return;
  }
}

/// Runs `doomed`, and kills the server when that sleeps there.
template <class Doomed>
task<void> kill_during(test_server& at, connection& sleeps, Doomed doomed) {
  connection asks = co_await connect_to(at);
  const int process = sleeps.server_process();
  const auto both = [&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(doomed);
    co_await wait_until_sleeping(asks, process);
    co_await tandem::blocking([&] { at.kill(); });
    co_await scope.join();
  };
  co_await tandem::with_scope(both);
  co_await tandem::blocking([&] { at.start(); });
}

TEST_F(postgres_faults, a_server_that_is_killed_breaks_the_statement_and_says_so) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection c = co_await connect_to(victim());
    const auto doomed = [&]() -> task<void> {
      (void)co_await failure_text(c.query("select pg_sleep(1000)"), errc::connection_lost);
      EXPECT_FALSE(c.is_usable());
      const std::string why = co_await failure_text(c.query("select 1"), errc::closed);
      EXPECT_TRUE(contains(why, ": it broke: ") && contains(why, "open a new one")) << why;
      EXPECT_EQ(why.find("postgres: "), why.rfind("postgres: ")) << why;
      EXPECT_EQ(why.find_first_of("\n\t"), std::string::npos) << why;
    };
    co_await kill_during(victim(), c, doomed);
    connection again = co_await connect_to(victim());
    EXPECT_TRUE(again.is_usable());
  }());
}

TEST_F(postgres_faults, a_transaction_whose_commit_was_under_way_is_told_as_unknown) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection c = co_await connect_to(victim());
    co_await make_table(c, "slow", "i int");
    (void)co_await c.execute(
        "create or replace function sleep_long() returns trigger language plpgsql as $$ begin "
        "perform pg_sleep(1000); return null; end $$; create constraint trigger at_commit after "
        "insert on slow deferrable initially deferred for each row execute function sleep_long()");
    const auto doomed = [&]() -> task<void> {
      const auto body = [](transaction& t) -> task<void> {
        (void)co_await t.query("insert into slow values (1)");
      };
      const std::string why =
          co_await failure_text(c.with_transaction(body), errc::outcome_unknown);
      EXPECT_EQ(why.find("the connection broke"), why.rfind("the connection broke")) << why;
      EXPECT_EQ(why.find("postgres: "), why.rfind("postgres: ")) << why;
      EXPECT_FALSE(c.is_usable());
    };
    co_await kill_during(victim(), c, doomed);
    connection again = co_await connect_to(victim());
    EXPECT_EQ(co_await count_rows(again, "slow"), 0);
    // Before COMMIT it is known: nothing of it stays.
    const auto earlier = [&]() -> task<void> {
      const auto body = [](transaction& t) -> task<void> {
        (void)co_await t.query("insert into slow values (1)");
        (void)co_await t.query("select pg_sleep(1000)");
      };
      (void)co_await failure_text(again.with_transaction(body), errc::connection_lost);
    };
    co_await kill_during(victim(), again, earlier);
  }());
}

TEST_F(postgres_faults, an_administrator_ends_a_connection) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection c = co_await connect_to(server());
    connection kills = co_await connect_to(server());
    const auto both = [&](tandem::task_scope& scope) -> task<void> {
      const auto doomed = [&]() -> task<void> {
        const std::string why =
            co_await failure_text(c.query("select pg_sleep(1000)"), errc::shutting_down);
        EXPECT_TRUE(contains(why, "57P01")) << why;
      };
      scope.spawn(doomed);
      co_await wait_until_sleeping(kills, c.server_process());
      (void)co_await kills.query("select pg_terminate_backend($1)", c.server_process());
      co_await scope.join();
    };
    co_await tandem::with_scope(both);
    EXPECT_FALSE(c.is_usable());
  }());
}

TEST_F(postgres_faults, a_server_that_stands_still_costs_the_limits_and_the_connection) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    postgres::connect_options options;
    options.cancel_limit = 100ms;
    connection c = co_await connect_to(victim(), options);
    connection other = co_await connect_to(victim(), options);
    co_await tandem::blocking([] { victim().pause(); });
    try {
      (void)co_await tandem::with_timeout(50ms, c.query("select 1"));
      ADD_FAILURE();
    } catch (const postgres::statement_stopped& told) {
      EXPECT_FALSE(told.connection_is_usable());
      EXPECT_EQ(told.reason(), tandem::stop_reason::deadline);
      EXPECT_TRUE(contains(told.what(), "closed")) << told.what();
      EXPECT_EQ(std::string_view(told.what()).find("stopped: its time limit was over"), 0U);
    }
    EXPECT_FALSE(c.is_usable());
    postgres::transaction_options limits;
    limits.end_limit = 100ms;
    const auto body = [](transaction& t) -> task<void> { (void)co_await t.query("select 1"); };
    const auto got =
        co_await as_result(tandem::with_timeout(50ms, other.with_transaction(body, limits)));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_FALSE(other.is_usable());
    options.connect_limit = 50ms;
    (void)co_await failure_text(connect_to(victim(), options), errc::cannot_connect);
    co_await tandem::blocking([] { victim().resume(); });
    connection again = co_await connect_to(victim());
    EXPECT_EQ((co_await again.query<int>("select 1")).at(0), 1);
  }());
}

TEST_F(postgres_faults, the_runtime_ends_though_a_cancelled_server_stands_still) {
  {
    test_runtime rt;
    rt.run([]() -> task<void> {
      postgres::connect_options options;
      options.cancel_limit = 20ms;
      connection asks = co_await connect_to(victim(), options);
      std::vector<connection> all;
      for (int i = 0; i < 40; ++i) all.push_back(co_await connect_to(victim(), options));
      const auto body = [&](tandem::task_scope& scope) -> task<void> {
        for (connection& c : all) {
          scope.spawn(&c == &all.back() ? sleep_in_a_pipeline(c) : sleep_there(c));
        }
        for (const connection& c : all) co_await wait_until_sleeping(asks, c.server_process());
        co_await tandem::blocking([] { victim().pause(); });
        scope.request_stop();
      };
      (void)co_await as_result(tandem::with_scope(body));
      for (const connection& c : all) EXPECT_FALSE(c.is_usable());
    }());
  }  // PQcancel() has not returned yet
  victim().resume();
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection again = co_await connect_to(victim());
    // Nor does it hold up the cancels of others for long.
    const auto got =
        co_await as_result(tandem::with_timeout(50ms, again.query("select pg_sleep(1000)")));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_TRUE(again.is_usable());
  }());
}

TEST_F(postgres_faults, a_server_that_is_full_says_so_until_somebody_leaves) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::vector<connection> all;
    while (true) {
      auto got = co_await as_result(connect_to(victim()));
      if (!got.has_value()) {
        EXPECT_EQ(got.error(), errc::too_many_connections);
        break;
      }
      all.push_back(std::move(got).value());
      if (all.size() > 200) {
        ADD_FAILURE();
        break;
      }
    }
    EXPECT_GT(all.size(), 50U);
    all.clear();
  }());
}

TEST_F(postgres_faults, what_is_no_server_is_told_apart_from_one) {
  const std::vector<std::string_view> beginnings = {"HTTP/1.1 400 Bad Request\r\n\r\n"sv,
                                                    ""sv,
                                                    "R"sv,
                                                    "R\0\0\0\x08\0\0"sv,
                                                    "\xFF\xFF\xFF\xFF\xFF"sv,
                                                    "E\xFF\xFF\xFF\xFFxxxx"sv,
                                                    "S\0\0\0\0"sv};
  for (const std::string_view begins : beginnings) {
    fake_server fake([&](const fake_client& client) {
      (void)client.receive();
      client.send(begins);
    });
    test_runtime rt;
    rt.run([](fake_server& at) -> task<void> {
      const std::string why =
          co_await failure_text(connection::open(at.conninfo()), errc::cannot_connect);
      EXPECT_TRUE(contains(why, "127.0.0.1")) << why;
    }(fake));
  }
}

TEST_F(postgres_faults, garbage_in_the_midst_of_a_statement_breaks_the_connection) {
  const std::vector<std::string_view> answers = {
      ""sv,
      "garbage, garbage, garbage"sv,
      "T\0\0"sv,
      "T\0\0\0\x06\xFF\xFF"sv,
      "D\0\0\0\x0B\0\x01\0\0\0\x01"sv,
      "\0\0\0\0\0\0\0\0"sv,
      "C\xFF\xFF\xFF\xFF"sv,
      "T\0\0\0\x20\0\x01"
      "a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xFF\xFF\xFF\xFF\0\0"
      "D\0\0\0\xFF"sv};
  for (const std::string_view answer : answers) {
    fake_server fake([&](const fake_client& client) {
      client.let_in();
      (void)client.receive();
      client.send(answer);
    });
    test_runtime rt;
    rt.run([](fake_server& at) -> task<void> {
      connection c = co_await connection::open(at.conninfo());
      const auto got = co_await as_result(c.query("select 1"));
      EXPECT_FALSE(got.has_value());
      EXPECT_EQ(got.error(), errc::connection_lost);
      EXPECT_FALSE(c.is_usable());
      const auto piped = [](postgres::pipeline& p) -> task<void> {
        (void)co_await p.query("select 1");
      };
      connection second = co_await connection::open(at.conninfo());
      const auto ended = co_await as_result(second.with_pipeline(piped));
      EXPECT_EQ(ended.error(), errc::connection_lost);
      EXPECT_FALSE(second.is_usable());
    }(fake));
  }
}

TEST_F(postgres_faults, a_pipeline_of_a_killed_server_fails_each_answer) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection c = co_await connect_to(victim());
    const auto doomed = [&]() -> task<void> {
      const auto body = [](postgres::pipeline& p) -> task<void> {
        std::vector<postgres::pipeline_answer> all;
        all.push_back(co_await p.send("select 1"));
        all.push_back(co_await p.send("select pg_sleep(1000)"));
        all.push_back(co_await p.send("select 2"));
        EXPECT_EQ((co_await all[0].get<int>()).at(0), 1);
        for (std::size_t i = 1; i < 3; ++i) {
          const auto got = co_await as_result(all[i].get());
          EXPECT_EQ(got.error(), errc::connection_lost);
        }
      };
      (void)co_await failure_text(c.with_pipeline(body), errc::connection_lost);
      EXPECT_FALSE(c.is_usable());
    };
    co_await kill_during(victim(), c, doomed);
  }());
}

}  // namespace
