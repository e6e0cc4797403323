// pipeline_test.cpp: many statements under way: each its own answer, and nobody waits for the other.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <stdexcept>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/postgres/postgres_support.hpp"

namespace {

using namespace tandem::test;
using postgres::connection;
using postgres::errc;
using postgres::pipeline;
using postgres::pipeline_answer;
using tandem::as_result;
using tandem::task;

class postgres_pipeline : public with_postgres {};

TEST_F(postgres_pipeline, answers_come_to_those_that_have_asked) {
  with_connection([](connection& c) -> task<void> {
    const auto body = [](pipeline& p) -> task<int> {
      std::vector<pipeline_answer> all;
      for (int i = 0; i < 200; ++i) all.push_back(co_await p.send("select $1::int", i));
      EXPECT_EQ(p.unanswered(), 200U);
      int sum = 0;
      for (int i = 199; i >= 0; --i) {
        const auto got = co_await all[static_cast<std::size_t>(i)].get<int>();
        EXPECT_EQ(got.at(0), i);
        sum += got.at(0);
      }
      co_return sum;
    };
    EXPECT_EQ(co_await c.with_pipeline(body), 199 * 100);
    EXPECT_EQ((co_await c.query<int>("select 1")).at(0), 1);
  });
}

TEST_F(postgres_pipeline, any_number_of_tasks_send_by_it) {
  with_connection([](connection& c) -> task<void> {
    std::atomic<int> right = 0;
    const auto body = [&right](pipeline& p) -> task<void> {
      const auto many = [&p, &right](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < 64; ++i) {
          const auto asks = [](pipeline& by, int number, std::atomic<int>& count) -> task<void> {
            for (int k = 0; k < 10; ++k) {
              const auto got = co_await by.query<int>("select $1::int + $2::int", number, k);
              if (got.at(0) == number + k) ++count;
            }
          };
          scope.spawn(asks(p, i, right));
        }
        co_return;
      };
      co_await tandem::with_scope(many);
    };
    co_await c.with_pipeline(body);
    EXPECT_EQ(right, 640);
  });
}

TEST_F(postgres_pipeline, a_failure_is_its_own_and_those_behind_it_are_not_run) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "piped", "i int primary key");
    const auto body = [](pipeline& p) -> task<void> {
      auto first = co_await p.send("insert into piped values (1)");
      auto twice = co_await p.send("insert into piped values (1)");
      auto third = co_await p.send("insert into piped values (2)");
      co_await p.sync();
      auto fourth = co_await p.send("insert into piped values (3)");
      (void)co_await first.get();
      (void)co_await failure_text(twice.get(), errc::unique_violation);
      (void)co_await failure_text(third.get(), errc::pipeline_aborted);
      (void)co_await fourth.get();
      // All that is not sent is told at once.
      const std::string zero("\0", 1);
      try {
        (void)co_await p.send("select $1", zero);
        ADD_FAILURE();
      } catch (const postgres::error& told) {
        EXPECT_EQ(told.code(), errc::bad_parameter);
      }
    };
    co_await c.with_pipeline(body);
    const auto all = co_await c.query<int>("select i from piped order by i");
    EXPECT_EQ(all, std::vector<int>{3});
    const auto careless = [](pipeline& p) -> task<void> {
      (void)co_await p.send("insert into piped values (3)");
    };
    (void)co_await failure_text(c.with_pipeline(careless), errc::unique_violation);
    EXPECT_TRUE(c.is_usable());
  });
}

TEST_F(postgres_pipeline, what_a_failed_body_has_sent_is_undone) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "undone", "i int");
    const auto body = [](pipeline& p) -> task<void> {
      (void)co_await p.query("insert into undone values (1)");
      co_await p.sync();
      auto second = co_await p.send("insert into undone values (2)");
      (void)co_await second.get();
      throw std::runtime_error("changed my mind");
    };
    const auto got = co_await as_result(c.with_pipeline(body));
    EXPECT_FALSE(got.has_value());
    EXPECT_TRUE(c.is_usable());
    const auto all = co_await c.query<int>("select i from undone");
    EXPECT_EQ(all, std::vector<int>{1});
  });
}

TEST_F(postgres_pipeline, works_inside_of_a_transaction) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "inside", "i int");
    const auto body = [](postgres::transaction& t) -> task<void> {
      const auto sends = [](pipeline& p) -> task<void> {
        for (int i = 0; i < 10; ++i) (void)co_await p.send("insert into inside values ($1)", i);
      };
      co_await t.with_pipeline(sends);
      (void)co_await t.query("delete from inside where i = 0");
    };
    co_await c.with_transaction(body);
    EXPECT_EQ(co_await count_rows(c, "inside"), 9);
    const auto fails = [](postgres::transaction& t) -> task<void> {
      const auto sends = [](pipeline& p) -> task<void> {
        (void)co_await p.send("insert into inside values (100)");
        throw std::runtime_error("no");
      };
      co_await t.with_pipeline(sends);
    };
    EXPECT_FALSE((co_await as_result(c.with_transaction(fails))).has_value());
    EXPECT_TRUE(c.is_usable());
    EXPECT_EQ(co_await count_rows(c, "inside"), 9);
  });
}

TEST_F(postgres_pipeline, ten_thousand_small_ones_and_a_hundred_of_a_mebibyte_both_ways) {
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt);
  rt.run([]() -> task<void> {
    connection c = co_await connect_to(server());
    const std::string large(1 << 20, 'y');
    const auto body = [&large](pipeline& p) -> task<void> {
      std::vector<pipeline_answer> all;
      for (int i = 0; i < 10'000; ++i) {
        if (i % 100 == 50) {
          all.push_back(co_await p.send("select $1::text", large));
        } else {
          all.push_back(co_await p.send("select $1::int", i));
        }
      }
      for (int i = 0; i < 10'000; ++i) {
        const postgres::rows got = co_await all[static_cast<std::size_t>(i)].get();
        if (i % 100 == 50) {
          EXPECT_TRUE(got[0].get<std::string_view>(0) == large);
        } else {
          EXPECT_EQ(got[0].get<int>(0), i);
        }
      }
    };
    co_await c.with_pipeline(body);
  }());
  EXPECT_EQ(pool.stats().stalls, 0U);
}

TEST_F(postgres_pipeline, a_stop_ends_it_and_the_connection_is_usable) {
  with_connection([](connection& c) -> task<void> {
    const auto body = [](pipeline& p) -> task<void> {
      for (int i = 0; i < 20; ++i) (void)co_await p.send("select $1::int", i);
      (void)co_await p.query("select pg_sleep(1000)");
    };
    const auto got = co_await as_result(
        tandem::with_timeout(std::chrono::milliseconds(50), c.with_pipeline(body)));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_TRUE(c.is_usable());
    EXPECT_EQ((co_await c.query<int>("select 1")).at(0), 1);
  });
}

}  // namespace
