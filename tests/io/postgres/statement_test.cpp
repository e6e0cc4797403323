// statement_test.cpp: statements, prepared ones, scripts; one at a time on a connection.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tandem/stop.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <tuple>
#include <vector>

#include "io/postgres/postgres_support.hpp"

namespace {

using namespace tandem::test;
using postgres::connection;
using postgres::errc;
using postgres::rows;
using tandem::task;

class postgres_statement : public with_postgres {};

TEST_F(postgres_statement, answers_by_name_by_number_and_as_tuples) {
  with_connection([](connection& c) -> task<void> {
    const rows got = co_await c.query("select 7 as id, 'ann' as name, null as note");
    EXPECT_EQ(got.size(), 1U);
    EXPECT_EQ(got.columns(), 3U);
    EXPECT_EQ(got.column_name(1), "name");
    EXPECT_EQ(got.find_column("note"), std::optional<std::size_t>(2));
    EXPECT_EQ(got.find_column("NOTE"), std::nullopt);
    EXPECT_EQ(got[0].get<int>("id"), 7);
    EXPECT_EQ(got[0].get<std::string>(1), "ann");
    EXPECT_TRUE(got[0].is_null("note"));
    EXPECT_EQ(got.command(), "SELECT 1");
    const auto typed =
        co_await c.query<int, std::string>("select i, 'n' || i from generate_series(1, $1) i", 3);
    const std::vector<std::tuple<int, std::string>> expected = {{1, "n1"}, {2, "n2"}, {3, "n3"}};
    EXPECT_EQ(typed, expected);
    int sum = 0;
    const rows many = co_await c.query("select i from generate_series(1, 100) i");
    for (const auto each : many) sum += each.get<int>(0);
    EXPECT_EQ(sum, 5050);
  });
}

TEST_F(postgres_statement, says_how_many_rows_it_has_changed) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "changed", "id int primary key, name text");
    const rows inserted =
        co_await c.query("insert into changed select i, $1 from generate_series(1, 5) i", "x");
    EXPECT_EQ(inserted.affected(), 5U);
    EXPECT_EQ(inserted.command(), "INSERT 0 5");
    EXPECT_EQ((co_await c.query("update changed set name = $1 where id > $2", "y", 3)).affected(),
              2U);
    EXPECT_EQ((co_await c.query("delete from changed")).affected(), 5U);
    const rows nothing = co_await c.query("");
    EXPECT_EQ(nothing.size(), 0U);
    EXPECT_EQ(rows().affected(), 0U);
  });
}

TEST_F(postgres_statement, a_failure_has_the_servers_words_and_the_connection_goes_on) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "people",
                        "id int primary key, name text not null, age int check (age >= 0), boss "
                        "int references people");
    (void)co_await c.query("insert into people values (1, 'ann', 30, null)");
    try {
      (void)co_await c.query("insert into people values (1, 'bob', 30, null)");
      ADD_FAILURE();
    } catch (const postgres::error& told) {
      EXPECT_EQ(told.code(), errc::unique_violation);
      EXPECT_EQ(told.sqlstate(), "23505");
      EXPECT_EQ(told.constraint(), "people_pkey");
      EXPECT_EQ(told.detail(), "Key (id)=(1) already exists.");
      EXPECT_EQ(told.words().table, "people");
      EXPECT_TRUE(contains(told.what(), "ERROR 23505: duplicate key")) << told.what();
    }
    try {
      (void)co_await c.query("select * from people where nam = 1");
      ADD_FAILURE();
    } catch (const postgres::error& told) {
      EXPECT_EQ(told.code(), errc::bad_statement);
      EXPECT_EQ(told.sqlstate(), "42703");
      EXPECT_EQ(told.position(), 28U);
      EXPECT_FALSE(told.hint().empty());
    }
    (void)co_await failure_text(c.query("insert into people values (2, null, 1, null)"),
                                errc::not_null_violation);
    (void)co_await failure_text(c.query("insert into people values (2, 'x', -1, null)"),
                                errc::check_violation);
    (void)co_await failure_text(c.query("insert into people values (2, 'x', 1, 9)"),
                                errc::foreign_key_violation);
    (void)co_await failure_text(c.query("select 1 / 0"), errc::bad_data);
    (void)co_await failure_text(c.query("selec 1"), errc::bad_statement);
    (void)co_await failure_text(c.query("select $1::int", "abc"), errc::bad_data);
    (void)co_await failure_text(c.query("select $1::int"), errc::bad_statement);
    const std::string several = co_await failure_text(
        c.query("set default_transaction_read_only = on; select 1"), errc::bad_statement);
    EXPECT_TRUE(contains(several, "; execute() takes a script of several")) << several;
    EXPECT_TRUE(c.is_usable());
    EXPECT_EQ((co_await c.query<int>("select 1")).at(0), 1);
  });
}

TEST_F(postgres_statement, a_script_is_many_statements_and_ends_at_the_first_failure) {
  with_connection([](connection& c) -> task<void> {
    const std::vector<rows> all =
        co_await c.execute("select 1; select 2, 3; create temp table s (i int)");
    EXPECT_EQ(all.size(), 3U);
    EXPECT_EQ(all.at(1).columns(), 2U);
    (void)co_await failure_text(
        c.execute("insert into s values (1); select 1/0; insert into s values (2)"),
        errc::bad_data);
    EXPECT_EQ(co_await count_rows(c, "s"), 0);
  });
}

TEST_F(postgres_statement, prepared_ones_are_run_often_and_forgotten) {
  with_connection([](connection& c) -> task<void> {
    const postgres::statement add = co_await c.prepare("select $1::int + $2::int");
    for (int i = 0; i < 20; ++i) {
      const auto got = co_await c.query<int>(add, i, 1);
      EXPECT_EQ(got.at(0), i + 1);
    }
    const postgres::statement named = co_await c.prepare("select 1", "my \"own\"");
    EXPECT_EQ((co_await c.query<int>(named)).at(0), 1);
    (void)co_await failure_text(c.prepare("select 2", "my \"own\""), errc::bad_statement);
    co_await c.deallocate(named);
    (void)co_await failure_text(c.query(named), errc::bad_statement);
    (void)co_await failure_text(c.prepare("select from where"), errc::bad_statement);
  });
}

TEST_F(postgres_statement, the_cache_prepares_what_comes_again_and_outlives_changed_tables) {
  postgres::connect_options options;
  options.statement_cache = 2;
  const auto body = [](connection& c) -> task<void> {
    co_await make_table(c, "cached", "a int");
    (void)co_await c.query("insert into cached values (1)");
    const std::string count = "select count(*) from pg_prepared_statements";
    for (int i = 0; i < 3; ++i) EXPECT_EQ((co_await c.query("select * from cached")).columns(), 1U);
    (void)co_await c.execute("alter table cached add b int");
    // The plan is no more good for the table.
    for (int i = 0; i < 3; ++i) EXPECT_EQ((co_await c.query("select * from cached")).columns(), 2U);
    (void)co_await c.execute("deallocate all");
    for (int i = 0; i < 3; ++i) EXPECT_EQ((co_await c.query("select * from cached")).columns(), 2U);
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 5; ++i) {
        const std::string text = "select " + std::to_string(i);
        EXPECT_EQ((co_await c.query<int>(text)).at(0), i);
        EXPECT_EQ((co_await c.query<int>(text)).at(0), i);
      }
    }
    const std::vector<rows> kept = co_await c.execute(count);
    EXPECT_LE(kept.at(0)[0].get<int>(0), 3);
    EXPECT_GE(kept.at(0)[0].get<int>(0), 1);
  };
  with_connection(body, options);
}

TEST_F(postgres_statement, tasks_that_share_a_connection_wait_for_each_other) {
  with_connection([](connection& c) -> task<void> {
    std::atomic<int> done = 0;
    const auto asks = [&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 50; ++i) {
        const auto one = [](connection& with, int number, std::atomic<int>& count) -> task<void> {
          const auto got = co_await with.query<int>("select $1::int", number);
          EXPECT_EQ(got.at(0), number);
          ++count;
        };
        scope.spawn(one(c, i, done));
      }
      co_return;
    };
    co_await tandem::with_scope(asks);
    EXPECT_EQ(done, 50);
  });
}

TEST_F(postgres_statement, notices_are_told_after_the_statement) {
  std::vector<std::string> told;
  postgres::connect_options options;
  options.on_notice = [&](const postgres::server_words& words) {
    told.push_back(words.severity + " " + words.message);
  };
  const auto body = [&](connection& c) -> task<void> {
    (void)co_await c.query("do $$ begin raise notice 'one'; raise warning 'two'; end $$");
    const std::vector<std::string> expected = {"NOTICE one", "WARNING two"};
    EXPECT_EQ(told, expected);
  };
  with_connection(body, options);
}

TEST_F(postgres_statement, copy_is_refused_by_query_and_the_connection_goes_on) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "copied", "i int");
    (void)co_await failure_text(c.query("copy copied from stdin"), errc::bad_statement);
    EXPECT_EQ((co_await c.query<int>("select 1")).at(0), 1);
    (void)co_await failure_text(c.query("copy (select generate_series(1, 100000)) to stdout"),
                                errc::bad_statement);
    EXPECT_EQ((co_await c.query<int>("select 2")).at(0), 2);
    EXPECT_TRUE(c.is_usable());
  });
}

TEST(postgres_errors, each_code_has_a_text_of_its_own_in_the_category_tandem_postgres) {
  EXPECT_EQ(std::string_view(postgres::postgres_category().name()), "tandem.postgres");
  std::set<std::string> texts;
  const int last = static_cast<int>(errc::failed);
  for (int code = 1; code <= last; ++code) {
    texts.insert(postgres::postgres_category().message(code));
  }
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(last));
  EXPECT_FALSE(texts.contains("unknown"));
}

TEST(postgres_errors, a_stop_says_its_reason_first_and_then_what_became_of_the_connection) {
  const postgres::statement_stopped usable(tandem::stop_reason::user, true);
  EXPECT_EQ(std::string_view(usable.what()),
            "stopped: the task was asked to stop; the server has ended the statement, and the "
            "connection is usable");
  const postgres::statement_stopped closed(tandem::stop_reason::deadline, false);
  EXPECT_TRUE(contains(closed.what(), "its time limit was over; the server did not confirm"));
  const postgres::statement_stopped copied = closed;  // NOLINT: that is what is asked
  EXPECT_EQ(std::string_view(copied.what()), std::string_view(closed.what()));
}

}  // namespace
