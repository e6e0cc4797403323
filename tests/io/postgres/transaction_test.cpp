// transaction_test.cpp: committed at a good end, rolled back at any other.
// SPDX-License-Identifier: MIT
#include <stdexcept>
#include <tandem/event.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>

#include "io/postgres/postgres_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;
using postgres::connection;
using postgres::errc;
using postgres::transaction;
using tandem::as_result;
using tandem::task;

class postgres_transaction : public with_postgres {};

TEST_F(postgres_transaction, is_committed_at_a_good_end_and_rolled_back_at_any_other) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "ends", "i int primary key");
    const int value = co_await c.with_transaction([](transaction& t) -> task<int> {
      (void)co_await t.query("insert into ends values (1)");
      co_return 5;
    });
    EXPECT_EQ(value, 5);
    EXPECT_EQ(co_await count_rows(c, "ends"), 1);
    const auto failing = [](transaction& t) -> task<void> {
      (void)co_await t.query("insert into ends values (2)");
      throw std::runtime_error("changed my mind");
    };
    const auto got = co_await as_result(c.with_transaction(failing));
    EXPECT_FALSE(got.has_value());
    EXPECT_THROW(std::rethrow_exception(got.exception()), std::runtime_error);
    EXPECT_EQ(co_await count_rows(c, "ends"), 1);
    const auto twice = [](transaction& t) -> task<void> {
      (void)co_await t.query("insert into ends values (3)");
      (void)co_await t.query("insert into ends values (1)");
    };
    (void)co_await failure_text(c.with_transaction(twice), errc::unique_violation);
    EXPECT_EQ(co_await count_rows(c, "ends"), 1);
    const auto keeps_it = [](transaction& t) -> task<void> {
      (void)co_await as_result(t.query("insert into ends values (1)"));
      (void)co_await failure_text(t.query("select 1"), errc::transaction_aborted);
    };
    (void)co_await failure_text(c.with_transaction(keeps_it), errc::transaction_aborted);
    const auto plain = [](transaction&) -> task<void> { throw std::logic_error("no task yet"); };
    EXPECT_FALSE((co_await as_result(c.with_transaction(plain))).has_value());
    EXPECT_TRUE(c.is_usable());
  });
}

TEST_F(postgres_transaction, has_the_connection_to_itself) {
  with_connection([](connection& c) -> task<void> {
    const auto body = [&c](transaction& t) -> task<void> {
      (void)co_await failure_text(c.query("select 1"), errc::in_use);
      const auto inner = [](transaction&) -> task<void> { co_return; };
      (void)co_await failure_text(c.with_transaction(inner), errc::in_use);
      (void)co_await t.query("select 1");
    };
    co_await c.with_transaction(body);
    (void)co_await c.query("select 1");
  });
}

TEST_F(postgres_transaction, inside_of_another_one_is_a_savepoint) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "nested", "i int primary key");
    const auto body = [](transaction& t) -> task<void> {
      (void)co_await t.query("insert into nested values (1)");
      const auto fails = [&t](transaction& inner) -> task<void> {
        (void)co_await inner.query("insert into nested values (2)");
        (void)co_await failure_text(t.query("select 1"), errc::in_use);
        (void)co_await inner.query("insert into nested values (1)");
      };
      (void)co_await failure_text(t.with_transaction(fails), errc::unique_violation);
      const auto works = [](transaction& inner) -> task<void> {
        const auto deeper = [](transaction& third) -> task<void> {
          (void)co_await third.query("insert into nested values (3)");
        };
        co_await inner.with_transaction(deeper);
      };
      co_await t.with_transaction(works);
      const auto keeps_it = [](transaction& inner) -> task<void> {
        (void)co_await as_result(inner.query("select 1/0"));
      };
      const auto got = co_await as_result(t.with_transaction(keeps_it));
      EXPECT_EQ(got.error(), errc::transaction_aborted);
      (void)co_await t.query("insert into nested values (4)");
    };
    co_await c.with_transaction(body);
    const auto all = co_await c.query<int>("select i from nested order by i");
    const std::vector<int> expected = {1, 3, 4};
    EXPECT_EQ(all, expected);
  });
}

TEST_F(postgres_transaction, options_say_isolation_and_read_only) {
  with_connection([](connection& c) -> task<void> {
    postgres::transaction_options options;
    options.isolation = postgres::isolation::serializable;
    options.read_only = true;
    options.deferrable = true;
    const auto body = [](transaction& t) -> task<void> {
      const auto got = co_await t.query<std::string>("show transaction_isolation");
      EXPECT_EQ(got.at(0), "serializable");
      (void)co_await t.query("create table never (i int)");
    };
    (void)co_await failure_text(c.with_transaction(body, options), errc::read_only);
  });
}

TEST_F(postgres_transaction, a_serialization_failure_runs_it_again) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection first = co_await connect_to(server());
    connection second = co_await connect_to(server());
    co_await make_table(first, "sums", "class int, value int");
    (void)co_await first.query("insert into sums values (1, 10), (2, 20)");
    postgres::transaction_options options;
    options.isolation = postgres::isolation::serializable;
    options.attempts = 3;
    int runs = 0;
    const auto body = [&](transaction& t) -> task<void> {
      ++runs;
      const auto sum = co_await t.query<int>("select sum(value)::int from sums where class = 1");
      if (runs == 1) {
        // The other one reads what this one writes, and writes what this one has read.
        const auto other = [](transaction& u) -> task<void> {
          const auto got =
              co_await u.query<int>("select sum(value)::int from sums where class = 2");
          (void)co_await u.query("insert into sums values (1, $1)", got.at(0));
        };
        postgres::transaction_options once;
        once.isolation = postgres::isolation::serializable;
        co_await second.with_transaction(other, once);
      }
      (void)co_await t.query("insert into sums values (2, $1)", sum.at(0));
    };
    co_await first.with_transaction(body, options);
    EXPECT_EQ(runs, 2);
    const auto all =
        co_await first.query<int>("select value from sums where class = 2 order by value");
    const std::vector<int> expected = {20, 30};
    EXPECT_EQ(all, expected);
  }());
}

TEST_F(postgres_transaction, a_failure_of_the_commit_itself_is_told_and_nothing_stays) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "deferred", "i int primary key deferrable initially deferred");
    const auto body = [](transaction& t) -> task<void> {
      (void)co_await t.query("insert into deferred values (1), (1)");
    };
    (void)co_await failure_text(c.with_transaction(body), errc::unique_violation);
    EXPECT_EQ(co_await count_rows(c, "deferred"), 0);
    EXPECT_TRUE(c.is_usable());
  });
}

TEST_F(postgres_transaction, a_stop_rolls_it_back_and_the_connection_is_usable) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "stopped", "i int");
    tandem::event inserted;
    const auto waits = [&](transaction& t) -> task<void> {
      (void)co_await t.query("insert into stopped values (1)");
      inserted.set();
      (void)co_await t.query("select pg_sleep(1000)");
    };
    bool was_stopped = false;
    const auto both = [&](tandem::task_scope& scope) -> task<void> {
      const auto runs = [&]() -> task<void> {
        try {
          co_await c.with_transaction(waits);
        } catch (const postgres::statement_stopped& told) {
          was_stopped = told.connection_is_usable();
          throw;
        }
      };
      scope.spawn(runs);
      co_await inserted.wait();
      scope.request_stop();
      co_await scope.join();
    };
    (void)co_await as_result(tandem::with_scope(both));
    EXPECT_TRUE(was_stopped);
    EXPECT_TRUE(c.is_usable());
    EXPECT_EQ(co_await count_rows(c, "stopped"), 0);
  });
}

}  // namespace
