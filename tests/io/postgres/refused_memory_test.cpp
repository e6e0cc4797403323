// refused_memory_test.cpp: whatever allocation is refused, libpq's too: an answer of one's own, or an exception.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <tandem/as_result.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/postgres/postgres_support.hpp"
#include "refusals.hpp"

namespace {

using namespace tandem::test;
using postgres::connection;
using tandem::as_result;
using tandem::task;

/// Whatever came of it: a new connection works, no other one is left, and `t` has all of what one transaction puts there, or nothing.
task<void> look() {
  const granted free;
  connection fresh = co_await connect_to(shared_server("postgres"));
  const auto counts = co_await fresh.query<int, int, int>(
      "select count(*) filter (where i = 1)::int, count(*) filter (where i = 2)::int, "
      "count(*) filter (where i = 3)::int from t");
  EXPECT_EQ(std::get<0>(counts.at(0)), std::get<1>(counts.at(0)));
  EXPECT_EQ(std::get<2>(counts.at(0)), 0);
  int others = 1;
  while (others != 0) {  // the server learns of an end by itself, soon
    const auto count = co_await fresh.query<int>(
        "select count(*)::int from pg_stat_activity where backend_type = 'client backend' and pid "
        "<> "
        "pg_backend_pid()");
    others = count.at(0);
  }
}

class postgres_refused_memory : public with_postgres {
 protected:
  void SetUp() override {
    with_postgres::SetUp();
    if (IsSkipped()) return;
    with_connection([](connection& c) -> task<void> { co_await make_table(c, "t", "i int"); });
  }
  /// Runs `use` once for each allocation that is refused.
  static void refuse_each(task<void> (*use)()) {
    for_each_refusal(allocations, asker::anyone(), [&] {
      try {
        tandem::run(use());
      } catch (...) {
        if (allocations.has_refused()) tandem::run(look());
        throw;
      }
      if (allocations.has_refused()) tandem::run(look());
    });
  }
};

/// A statement has its own answer, or none. What has failed for want of memory may be asked again: then it works, or the
/// connection is closed, and says so.
task<void> ask(connection& c, int number) {
  const std::string sql = "select $1::int, 'a text that is not short, number ' || $1::text";
  for (int i = 0; i < 2; ++i) {
    const auto got = co_await as_result(c.query<int, std::string>(sql, number));
    if (!got.has_value()) continue;
    EXPECT_EQ(std::get<0>(got.value().at(0)), number);
    EXPECT_EQ(std::get<1>(got.value().at(0)),
              "a text that is not short, number " + std::to_string(number));
    co_return;
  }
  EXPECT_FALSE(c.is_usable());
  throw std::bad_alloc();
}

task<void> use_statements() {
  connection c = co_await connect_to(shared_server("postgres"));
  for (int i = 0; i < 3; ++i) co_await ask(c, i);
  const auto script = co_await as_result(c.execute("select 1; select 2; select 3"));
  EXPECT_EQ(script.has_value() ? script.value().size() : 3U, 3U);
  co_await ask(c, 4);
  (void)co_await as_result(c.query("select 1 / 0"));
  co_await ask(c, 5);
}

task<void> use_transaction() {
  connection c = co_await connect_to(shared_server("postgres"));
  const auto body = [](postgres::transaction& t) -> task<void> {
    (void)co_await t.query("insert into t values ($1)", 1);
    const auto inside = [](postgres::transaction& in) -> task<void> {
      (void)co_await in.query("insert into t values ($1)", 2);
    };
    co_await t.with_transaction(inside);
  };
  const auto done = co_await as_result(c.with_transaction(body));
  co_await ask(c, 6);
  const auto left = [](postgres::transaction& t) -> task<void> {
    (void)co_await t.query("insert into t values ($1)", 3);
    throw std::system_error(std::make_error_code(std::errc::io_error));
  };
  (void)co_await as_result(c.with_transaction(left));
  co_await ask(c, 7);
  (void)done.value();
}

task<void> use_pipeline() {
  // libpq (15) says nothing of a sync that was answered when it has no memory to say so: a limit helps.
  static constexpr std::chrono::seconds limit{5};
  postgres::connect_options options = patient();
  options.cancel_limit = limit;
  connection c = co_await connect_to(shared_server("postgres"), options);
  const auto body = [](postgres::pipeline& p) -> task<void> {
    const auto many = [&p](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 10; ++i) {
        const auto one = [](postgres::pipeline& by, int number) -> task<void> {
          const auto got = co_await by.query<int>("select $1::int", number);
          EXPECT_EQ(got.at(0), number);
        };
        scope.spawn(one(p, i));
      }
      co_return;
    };
    co_await tandem::with_scope(many);
    (void)co_await p.send("insert into t values ($1)", 1);
    (void)co_await p.send("insert into t values ($1)", 2);
  };
  const auto ended = co_await as_result(tandem::with_timeout(limit, c.with_pipeline(body)));
  co_await ask(c, 8);
  const auto fails = [](postgres::pipeline& p) -> task<void> {
    (void)co_await p.send("select 1 / 0");
    (void)co_await p.send("select 1");
  };
  (void)co_await as_result(tandem::with_timeout(limit, c.with_pipeline(fails)));
  co_await ask(c, 9);
  (void)ended.value();
}

task<void> use_copy() {
  static constexpr std::chrono::milliseconds limit{500};
  connection c = co_await connect_to(shared_server("postgres"));
  // libpq (15) takes a refusal in the answer to COPY for one that is not whole yet, and waits for more: a limit helps.
  const auto both = [](connection& on) -> task<void> {
    auto in = co_await tandem::with_timeout(limit, on.copy_in("copy t from stdin"));
    co_await in.write_all("1\n");
    co_await in.write_all("2\n");
    EXPECT_EQ(co_await in.finish(), 2U);
    auto out = co_await tandem::with_timeout(
        limit,
        on.copy_out(
            "copy (select 'a long row, number ' || i from generate_series(1, 2) i) to stdout"));
    int rows = 0;
    while (!(co_await out.read()).empty()) ++rows;
    EXPECT_EQ(rows, 2);
  };
  const auto ended = co_await as_result(both(c));
  co_await ask(c, 10);
  {
    auto dropped = co_await as_result(tandem::with_timeout(limit, c.copy_in("copy t from stdin")));
  }
  co_await ask(c, 11);
  (void)ended.value();
}

/// With one connection: a place that is lost is missed at once.
task<void> use_pool() {
  postgres::pool_options options;
  options.max_connections = 1;
  options.connections = patient();
  options.acquire_limit = std::chrono::minutes(5);
  postgres::pool pool(conninfo_of(shared_server("postgres")), options);
  co_await pool.warm_up();
  for (int i = 0; i < 3; ++i) {
    const auto asks = [i](connection& c) -> task<void> { co_await ask(c, i); };
    (void)co_await as_result(pool.with_connection(asks));
    const auto got = co_await as_result(pool.query<int>("select $1::int", i));
    EXPECT_EQ(got.has_value() ? got.value().at(0) : i, i);
  }
  const auto body = [](postgres::transaction& t) -> task<void> {
    (void)co_await t.query("insert into t values ($1), ($2)", 1, 2);
  };
  (void)co_await as_result(pool.with_transaction(body));
  EXPECT_EQ(pool.stats().in_use, 0U);
  EXPECT_EQ(pool.stats().waiting, 0U);
  pool.close();
}

TEST_F(postgres_refused_memory, statement_has_its_own_answer_or_an_exception) {
  refuse_each(use_statements);
}
TEST_F(postgres_refused_memory, transaction_is_done_whole_or_not_at_all) {
  refuse_each(use_transaction);
}
TEST_F(postgres_refused_memory, statements_of_a_pipeline_have_their_own_answers) {
  refuse_each(use_pipeline);
}
TEST_F(postgres_refused_memory, copy_is_done_whole_or_not_at_all) { refuse_each(use_copy); }
TEST_F(postgres_refused_memory, pool_loses_no_place) { refuse_each(use_pool); }

}  // namespace
