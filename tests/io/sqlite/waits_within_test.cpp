// waits_within_test.cpp: functions of read(), write() and run() that wait for the database that waits for them.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <tandem/event.hpp>
#include <tandem/spawn.hpp>
#include <tandem/sync_wait.hpp>
#include <utility>

#include "io/sqlite/sqlite_support.hpp"

namespace {

using tandem::task;
using tandem::test::database_room;
using tandem::test::fails;

namespace sqlite = tandem::io::sqlite;
using sqlite::errc;

/// Waits on this thread for a call that is to be refused, from the workers of `on`.
template <class Call>
void refused_within(tandem::runtime& on, Call call, std::string_view words) {
  tandem::sync_wait(on.workers(), fails(std::move(call), errc::nested, words));
}

task<void> make_table(const sqlite::database& db) {
  co_await db.execute("CREATE TABLE t (n INTEGER)");
}
task<int> rows_in(const sqlite::database& db) {
  co_return co_await db.query_one<int>("SELECT count(*) FROM t");
}

sqlite::options one_reader() {
  sqlite::options given;
  given.readers = 1;
  return given;
}

TEST(sqlite_waits_within, function_of_write_that_waits_for_the_writer_is_told_so) {
  database_room room;
  tandem::test::test_runtime other;
  const auto law = [&](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    for (tandem::runtime* const each : {&*room.runtime, &*other}) {
      const auto insert = [&](sqlite::session& on) {
        on.execute("INSERT INTO t VALUES (1)");
        refused_within(*each, db.execute("INSERT INTO t VALUES (2)"), "within its own write()");
        refused_within(*each, db.write([](sqlite::session&) {}), "within its own write()");
        refused_within(*each,
                       db.with_transaction([](sqlite::transaction&) -> task<void> { co_return; }),
                       "within its own write()");
        refused_within(*each, db.query<int>("INSERT INTO t VALUES (2) RETURNING n"), "write()");
        refused_within(*each, db.close(), "closed from within");
        // Reading has connections of its own, which see what is committed.
        EXPECT_EQ(tandem::sync_wait(each->workers(), rows_in(db)), each == &*other ? 1 : 0);
      };
      co_await db.write(insert);
    }
    EXPECT_EQ(co_await rows_in(db), 2);
    co_await db.execute("INSERT INTO t VALUES (3)");
  };
  room.run(law, one_reader());
}

TEST(sqlite_waits_within, function_of_read_that_waits_for_any_connection_is_told_so) {
  database_room room;
  const auto law = [&](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    const auto look = [&](sqlite::session& on) {
      refused_within(*room.runtime, db.query<int>("SELECT n FROM t"), "within its own read()");
      refused_within(*room.runtime, db.execute("INSERT INTO t VALUES (1)"), "read()");
      refused_within(*room.runtime, db.read([](sqlite::session&) {}), "read()");
      refused_within(*room.runtime, db.backup_to(room.folder / "copy.db"), "read()");
      refused_within(*room.runtime, db.close(), "closed from within");
      return on.query_one<int>("SELECT count(*) FROM t");
    };
    EXPECT_EQ(co_await db.read(look), 0);
    EXPECT_EQ(co_await rows_in(db), 0);
  };
  room.run(law, one_reader());
}

TEST(sqlite_waits_within, function_of_run_that_waits_for_its_transaction_is_told_so) {
  database_room room;
  const auto law = [&](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    const auto body = [&](sqlite::transaction& tx) -> task<void> {
      const auto insert = [&](sqlite::session& on) {
        on.execute("INSERT INTO t VALUES (1)");
        refused_within(*room.runtime, tx.execute("INSERT INTO t VALUES (2)"), "its own run()");
        refused_within(*room.runtime, db.execute("INSERT INTO t VALUES (2)"), "transaction");
        EXPECT_EQ(tandem::sync_wait(room.runtime.workers(), rows_in(db)), 0);
      };
      co_await tx.run(insert);
      co_await tx.execute("INSERT INTO t VALUES (3)");
    };
    co_await db.with_transaction(body);
    EXPECT_EQ(co_await rows_in(db), 2);
  };
  room.run(law);
}

TEST(sqlite_waits_within, in_memory_reading_waits_for_the_one_connection_too) {
  database_room room;
  room.run([&](const sqlite::database&) -> task<void> {
    const sqlite::database db = co_await sqlite::database::open(":memory:");
    const auto look = [&](sqlite::session&) {
      refused_within(*room.runtime, db.query<int>("SELECT 1"), "within its own read()");
    };
    co_await db.read(look);
    const auto change = [&](sqlite::session&) {
      refused_within(*room.runtime, db.query<int>("SELECT 1"), "within its own write()");
    };
    co_await db.write(change);
    EXPECT_EQ(co_await db.query_one<int>("SELECT 1"), 1);
  });
}

TEST(sqlite_waits_within, other_database_may_be_waited_for) {
  database_room room;
  room.run([&](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    const sqlite::database second = co_await sqlite::database::open(":memory:");
    const auto copy = [&](sqlite::session& on) {
      const int n = tandem::sync_wait(room.runtime.workers(), second.query_one<int>("SELECT 7"));
      on.execute("INSERT INTO t VALUES (?)", n);
      const auto inner = [&](sqlite::session&) {
        refused_within(*room.runtime, db.execute("DELETE FROM t"), "within its own write()");
      };
      tandem::sync_wait(room.runtime.workers(), second.write(inner));
    };
    co_await db.write(copy);
    EXPECT_EQ(co_await db.query_one<int>("SELECT n FROM t"), 7);
  });
}

TEST(sqlite_waits_within, task_that_is_left_behind_may_use_the_database_after_the_call) {
  database_room room;
  room.run([&](const sqlite::database& db) -> task<void> {
    co_await make_table(db);
    tandem::event ended;
    tandem::join_handle<void> left;
    const auto leave = [&](sqlite::session&) {
      left = tandem::spawn(room.runtime.workers(), [&]() -> task<void> {
        co_await ended.wait();
        co_await db.execute("INSERT INTO t VALUES (1)");
      });
    };
    co_await db.write(leave);
    ended.set();
    co_await std::move(left);
    EXPECT_EQ(co_await rows_in(db), 1);
  });
}

}  // namespace
