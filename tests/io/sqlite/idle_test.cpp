// idle_test.cpp: a database that has nothing to do wakes nobody.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "io/sqlite/sqlite_support.hpp"
#include "io/support/thread_waits.hpp"

namespace {

using tandem::task;
using tandem::test::database_room;

namespace sqlite = tandem::io::sqlite;

TEST(sqlite_idle, open_database_without_anything_to_do_wakes_no_thread) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 0);
    co_await tandem::test::expect_no_thread_wakes();
  });
}

TEST(sqlite_idle, transaction_whose_body_waits_wakes_no_thread) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    const auto body = [](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      co_await tandem::test::expect_no_thread_wakes();
    };
    co_await db.with_transaction(body);
  });
}

}  // namespace
