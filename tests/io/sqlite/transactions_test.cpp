// transactions_test.cpp: committed or rolled back, never left.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <tandem/event.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <utility>

#include "io/sqlite/sqlite_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::database_room;
using tandem::test::fails;

namespace sqlite = tandem::io::sqlite;
using sqlite::errc;

task<void> make_table(const sqlite::database& db) {
  co_await db.execute("CREATE TABLE t (n INTEGER)");
}

task<int> rows_in(const sqlite::database& db) {
  co_return co_await db.query_one<int>("SELECT count(*) FROM t");
}

TEST(sqlite_transactions, good_end_commits_and_gives_the_value) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    const auto body = [](sqlite::transaction& tx) -> task<std::string> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      const auto more = [](sqlite::session& on) {
        for (int i = 2; i != 5; ++i) on.execute("INSERT INTO t VALUES (?)", i);
        return on.query_one<int>("SELECT sum(n) FROM t");
      };
      co_return std::to_string(co_await tx.run(more));
    };
    EXPECT_EQ(co_await db.with_transaction(body), "10");
    EXPECT_EQ(co_await rows_in(db), 4);
  });
}

TEST(sqlite_transactions, failure_of_the_body_rolls_back_and_is_the_one_that_is_thrown) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    const auto body = [](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      throw std::out_of_range("the body's");
    };
    EXPECT_THROW(co_await db.with_transaction(body), std::out_of_range);
    const auto no_task = [](sqlite::transaction&) -> task<void> {
      throw std::length_error("before it is a task");
    };
    EXPECT_THROW(co_await db.with_transaction(no_task), std::length_error);
    const auto plain = [](sqlite::session& on) {
      on.execute("INSERT INTO t VALUES (1)");
      throw std::out_of_range("the function's");
    };
    EXPECT_THROW(co_await db.write(plain), std::out_of_range);
    EXPECT_EQ(co_await rows_in(db), 0);
  });
}

TEST(sqlite_transactions, failed_statement_may_be_taken_and_the_rest_is_committed) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    const auto body = [](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      co_await fails(tx.execute("INSERT INTO nowhere VALUES (1)"), errc::bad_sql);
      co_await tx.execute("INSERT INTO t VALUES (2)");
    };
    co_await db.with_transaction(body);
    EXPECT_EQ(co_await rows_in(db), 2);
  });
}

TEST(sqlite_transactions, nested_use_of_the_writer_is_refused_and_reading_is_not) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    const auto body = [&db](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      co_await fails(db.execute("INSERT INTO t VALUES (2)"), errc::nested,
                     "within its own transaction");
      const auto inner = [](sqlite::transaction&) -> task<void> { co_return; };
      co_await fails(db.with_transaction(inner), errc::nested);
      const auto plain = [](sqlite::session&) {};
      co_await fails(db.write(plain), errc::nested);
      co_await fails(db.close(), errc::nested);
      // So is a child that the body waits for.
      const auto child = [&db]() -> task<void> { co_await db.execute("INSERT INTO t VALUES (3)"); };
      co_await fails(tandem::when_all(child(), child()), errc::nested);
      EXPECT_EQ(co_await rows_in(db), 0);  // a reader sees what is committed
      EXPECT_EQ(co_await tx.query_one<int>("SELECT count(*) FROM t"), 1);
    };
    co_await db.with_transaction(body);
    EXPECT_EQ(co_await rows_in(db), 1);
  });
}

TEST(sqlite_transactions, task_that_the_body_leaves_behind_may_write_after_it) {
  database_room room;
  room.run([&room](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    tandem::event ended;
    tandem::join_handle<void> left;
    const auto body = [&](sqlite::transaction&) -> task<void> {
      left = tandem::spawn(room.runtime.workers(), [&]() -> task<void> {
        co_await ended.wait();
        co_await db.execute("INSERT INTO t VALUES (1)");
      });
      co_return;
    };
    co_await db.with_transaction(body);
    ended.set();
    co_await std::move(left);
    EXPECT_EQ(co_await rows_in(db), 1);
  });
}

TEST(sqlite_transactions, tasks_of_one_transaction_take_turns) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    const auto body = [](sqlite::transaction& tx) -> task<void> {
      const auto insert = [&tx]() -> task<void> {
        for (int i = 0; i != 20; ++i) co_await tx.execute("INSERT INTO t VALUES (1)");
      };
      co_await tandem::when_all(insert(), insert(), insert());
    };
    co_await db.with_transaction(body);
    EXPECT_EQ(co_await rows_in(db), 60);
  });
}

TEST(sqlite_transactions, transaction_that_was_ended_from_within_is_over) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    const auto body = [](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      co_await tx.execute("ROLLBACK");
      co_await fails(tx.execute("INSERT INTO t VALUES (2)"), errc::transaction_ended);
    };
    co_await fails(db.with_transaction(body), errc::transaction_ended);
    const auto plain = [](sqlite::session& on) { on.execute("ROLLBACK"); };
    co_await fails(db.write(plain), errc::transaction_ended);
    EXPECT_EQ(co_await rows_in(db), 0);
  });
}

TEST(sqlite_transactions, handle_that_is_kept_too_long_says_so) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    std::optional<sqlite::transaction> kept;
    const auto body = [&kept](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      kept.emplace(std::move(tx));
      co_await fails(tx.execute("INSERT INTO t VALUES (1)"), errc::closed, "moved from");
    };
    co_await db.with_transaction(body);
    co_await fails(kept->execute("INSERT INTO t VALUES (1)"), errc::transaction_ended);
    EXPECT_EQ((co_await db.execute("INSERT INTO t VALUES (1)")).changes, 1);
  });
}

TEST(sqlite_transactions, readers_go_on_while_a_transaction_is_open) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    tandem::event has_read;
    const auto body = [&](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      co_await has_read.wait();  // would wait for ever if the reader waited for it
      co_await tx.execute("INSERT INTO t VALUES (2)");
    };
    const auto reads = [&]() -> task<void> {
      for (int i = 0; i != 20; ++i) EXPECT_EQ(co_await rows_in(db), 0);
      has_read.set();
    };
    co_await tandem::when_all(db.with_transaction(body), reads());
    EXPECT_EQ(co_await rows_in(db), 2);
  });
}

}  // namespace
