// locks_test.cpp: another connection has what is asked for.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tandem/event.hpp>
#include <tandem/io/install.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>

#include "io/sqlite/sqlite_support.hpp"
#include "sanitized.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::database_room;
using tandem::test::fails;

namespace sqlite = tandem::io::sqlite;
using sqlite::errc;

/// Another program, as far as SQLite can tell.
task<sqlite::database> other(std::string path, std::chrono::milliseconds patience = 5s) {
  sqlite::options options;
  options.busy_timeout = patience;
  co_return co_await sqlite::database::open(path, options);
}

TEST(sqlite_locks, lock_that_is_held_too_long_is_busy) {
  database_room room;
  room.run([&room](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    const sqlite::database second = co_await other(room.path, 20ms);
    const auto body = [&second](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      co_await fails(second.execute("INSERT INTO t VALUES (2)"), errc::busy, "database is locked");
      const auto inner = [](sqlite::transaction&) -> task<void> { co_return; };
      co_await fails(second.with_transaction(inner), errc::busy);
      EXPECT_EQ(co_await second.query_one<int>("SELECT count(*) FROM t"), 0);
    };
    co_await db.with_transaction(body);
    EXPECT_EQ((co_await second.execute("INSERT INTO t VALUES (3)")).changes, 1);
    co_await second.close();
  });
}

TEST(sqlite_locks, lock_that_is_let_go_in_time_is_got) {
  database_room room;
  room.run([&room](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    const sqlite::database second = co_await other(room.path, 60s);
    tandem::event begun;
    const auto body = [&](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      begun.set();
      for (int i = 0; i != 50; ++i) co_await tx.execute("UPDATE t SET n = n + 1");
    };
    const auto waits = [&]() -> task<void> {
      co_await begun.wait();
      EXPECT_EQ((co_await second.execute("UPDATE t SET n = n * 2")).changes, 1);
    };
    co_await tandem::when_all(db.with_transaction(body), waits());
    EXPECT_EQ(co_await second.query_one<int>("SELECT n FROM t"), 102);
    co_await second.close();
  });
}

TEST(sqlite_locks, stop_ends_the_wait_for_a_lock) {
  database_room room;
  room.run([&room](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    const sqlite::database second = co_await other(room.path, 1h);
    const auto body = [&second](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      const auto ended = co_await tandem::as_result(
          tandem::with_timeout(20ms, second.execute("INSERT INTO t VALUES (2)")));
      EXPECT_EQ(ended.reason(), tandem::stop_reason::deadline);
    };
    co_await db.with_transaction(body);
    EXPECT_EQ((co_await second.execute("INSERT INTO t VALUES (3)")).changes, 1);
    EXPECT_EQ(co_await second.query_one<int>("SELECT count(*) FROM t"), 2);
    co_await second.close();
  });
}

TEST(sqlite_locks, commit_that_waits_for_readers_is_rolled_back_by_a_stop) {
  database_room room;
  sqlite::options options;
  options.journal = sqlite::journal_mode::rollback;  // a writer waits for readers there
  options.busy_timeout = 1h;
  room.run(
      [](const sqlite::database& db) -> task<void> {
        co_await db.execute("CREATE TABLE t (n INTEGER)");
        co_await db.execute("INSERT INTO t VALUES (1)");
        const auto hold = [&](sqlite::session& on) {
          (void)on.query_one<int>("SELECT count(*) FROM t");  // from here on it has its lock
          const auto writes = [](const sqlite::database& with) -> task<void> {
            const auto insert = [](sqlite::session& writing) {
              writing.execute("INSERT INTO t VALUES (2)");
            };
            const auto ended =
                co_await tandem::as_result(tandem::with_timeout(20ms, with.write(insert)));
            EXPECT_EQ(ended.reason(), tandem::stop_reason::deadline);
            const auto body = [](sqlite::transaction& tx) -> task<void> {
              co_await tx.execute("INSERT INTO t VALUES (3)");
            };
            const auto second =
                co_await tandem::as_result(tandem::with_timeout(20ms, with.with_transaction(body)));
            EXPECT_EQ(second.reason(), tandem::stop_reason::deadline);
          };
          tandem::spawn(tandem::no_flow, writes(db)).wait();
        };
        co_await db.read(hold);
        EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 1);
        EXPECT_EQ((co_await db.execute("INSERT INTO t VALUES (4)")).changes, 1);
      },
      options);
}

TEST(sqlite_locks, long_statement_holds_up_neither_workers_nor_completion_threads) {
  tandem::runtime_options slow;
  slow.min_threads = slow.max_threads = 2;
  tandem::runtime runtime(slow);
  std::atomic<int> stalls{0};
  tandem::io::completion_options watched;
  watched.stall_threshold = 5ms;
  watched.on_stall = [&stalls](const tandem::io::stall_report& what) {
    stalls += what.cpu_time >= 5ms ? 1 : 0;
  };
  tandem::io::completion_pool& pool = tandem::io::install(runtime, watched);
  const auto law = [&pool]() -> task<void> {
    co_await tandem::resume_on(pool.executor());
    const sqlite::database db = co_await sqlite::database::open(":memory:");
    const auto sum = co_await db.query_one<std::int64_t>(
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT "
        "sum(i) FROM n",
        tandem::test::rounds(300'000));
    const std::int64_t last = tandem::test::rounds(300'000);
    EXPECT_EQ(sum, last * (last + 1) / 2);
    co_await db.close();
  };
  tandem::sync_wait(runtime.workers(), law());
  EXPECT_EQ(stalls.load(), 0);
}

}  // namespace
