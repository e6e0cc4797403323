// stops_test.cpp: a stop ends a call, and the connection is as good as before.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <limits>
#include <stop_token>
#include <tandem/event.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/with_stop.hpp>

#include "io/sqlite/sqlite_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::database_room;
using tandem::test::fails;

namespace sqlite = tandem::io::sqlite;

constexpr const char* endless =
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

template <class Call>
task<void> is_stopped(Call call, tandem::stop_reason reason) {
  const auto ended = co_await tandem::as_result(std::move(call));
  EXPECT_EQ(ended.reason(), reason);
}

TEST(sqlite_stops, statement_that_would_never_end_ends_with_the_stop) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    for (int i = 0; i != 5; ++i) {
      co_await is_stopped(
          tandem::with_timeout(std::chrono::milliseconds(i), db.query_one<std::int64_t>(endless)),
          tandem::stop_reason::deadline);
      EXPECT_EQ(co_await db.query_one<int>("SELECT 7"), 7);
    }
  });
}

/// While it lives new connections have the function stop_now(), which asks for the stop.
class stopping_function {
 public:
  stopping_function() {
    source = std::stop_source();
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&stopping_function::add));  // NOLINT
  }
  ~stopping_function() { sqlite3_reset_auto_extension(); }
  stopping_function(const stopping_function&) = delete;
  stopping_function& operator=(const stopping_function&) = delete;

  static inline std::stop_source source{std::nostopstate};

 private:
  static int add(sqlite3* on, const char**, const void*) {
    return sqlite3_create_function(on, "stop_now", 0, SQLITE_UTF8, nullptr,
                                   &stopping_function::call, nullptr, nullptr);
  }
  static void call(sqlite3_context* answer, int, sqlite3_value**) {
    source.request_stop();
    sqlite3_result_int(answer, 1);
  }
};

TEST(sqlite_stops, interrupt_alone_ends_a_statement_that_runs) {
  const stopping_function function;
  database_room room;
  sqlite::options options;
  options.steps_between_looks = std::numeric_limits<int>::max();  // SQLite never asks
  room.run(
      [](const sqlite::database& db) -> task<void> {
        auto call = db.query<int>(
            "WITH RECURSIVE n(i) AS (SELECT stop_now() UNION ALL SELECT i + 1 FROM n) SELECT "
            "max(i) FROM n");
        co_await is_stopped(
            tandem::with_stop(stopping_function::source.get_token(), std::move(call)),
            tandem::stop_reason::user);
        EXPECT_EQ(co_await db.query_one<int>("SELECT 7"), 7);
      },
      options);
}

TEST(sqlite_stops, stop_that_comes_when_all_is_written_is_too_late) {
  const stopping_function function;
  database_room room;
  sqlite::options options;
  options.steps_between_looks = 1;  // SQLite asks once more when the row is committed
  room.run(
      [](const sqlite::database& db) -> task<void> {
        co_await db.execute("CREATE TABLE t (n INTEGER)");
        auto call = db.execute("INSERT INTO t VALUES (stop_now())");
        const auto ended = co_await tandem::as_result(
            tandem::with_stop(stopping_function::source.get_token(), std::move(call)));
        EXPECT_TRUE(ended.has_value());
        EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 1);
      },
      options);
}

TEST(sqlite_stops, stop_between_two_statements_is_seen_by_the_second) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    std::stop_source source;
    int last = 0;
    const auto loop = [&](sqlite::session& on) {
      auto insert = on.prepare("INSERT INTO t VALUES (?)");
      for (int i = 0; i != 10; ++i) {
        insert.execute(i);
        last = i;
        if (i == 4) source.request_stop();
      }
    };
    co_await is_stopped(tandem::with_stop(source.get_token(), db.write(loop)),
                        tandem::stop_reason::user);
    EXPECT_EQ(last, 4);
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 0);
  });
}

TEST(sqlite_stops, function_that_hides_the_stop_is_rolled_back_all_the_same) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    std::stop_source source;
    const auto hide = [&](sqlite::session& on) {
      on.execute("INSERT INTO t VALUES (1)");
      source.request_stop();
      EXPECT_THROW(on.execute("INSERT INTO t VALUES (2)"), tandem::operation_cancelled);
    };
    co_await is_stopped(tandem::with_stop(source.get_token(), db.write(hide)),
                        tandem::stop_reason::user);
    std::stop_source again;
    const auto body = [&again](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      again.request_stop();
    };
    co_await is_stopped(tandem::with_stop(again.get_token(), db.with_transaction(body)),
                        tandem::stop_reason::user);
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 0);
  });
}

TEST(sqlite_stops, limit_around_one_statement_of_a_transaction_ends_the_transaction) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    const auto body = [](sqlite::transaction& tx) -> task<void> {
      co_await tx.execute("INSERT INTO t VALUES (1)");
      // What only reads leaves it as it is.
      co_await is_stopped(tandem::with_timeout(5ms, tx.query_one<std::int64_t>(endless)),
                          tandem::stop_reason::deadline);
      co_await tx.execute("INSERT INTO t VALUES (2)");
      co_await is_stopped(
          tandem::with_timeout(
              5ms, tx.execute("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) "
                              "UPDATE t SET n = (SELECT max(i) FROM n)")),
          tandem::stop_reason::deadline);
      co_await fails(tx.execute("INSERT INTO t VALUES (3)"), sqlite::errc::transaction_ended,
                     "SQLite had to undo it");
    };
    co_await fails(db.with_transaction(body), sqlite::errc::transaction_ended);
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 0);
    EXPECT_EQ((co_await db.execute("INSERT INTO t VALUES (4)")).changes, 1);
  });
}

TEST(sqlite_stops, stop_ends_the_wait_for_the_writer_and_the_next_one_has_its_turn) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    tandem::event begun;
    tandem::event tried;
    const auto body = [&](sqlite::transaction& tx) -> task<void> {
      begun.set();
      co_await tried.wait();
      co_await tx.execute("INSERT INTO t VALUES (1)");
    };
    const auto gives_up = [&]() -> task<void> {
      co_await begun.wait();
      co_await is_stopped(tandem::with_timeout(1ms, db.execute("INSERT INTO t VALUES (2)")),
                          tandem::stop_reason::deadline);
      tried.set();
      co_await db.execute("INSERT INTO t VALUES (3)");
    };
    co_await tandem::when_all(db.with_transaction(body), gives_up());
    EXPECT_EQ(co_await db.query<int>("SELECT n FROM t ORDER BY n"),
              tandem::test::listed<int>(1, 3));
  });
}

TEST(sqlite_stops, stopped_copy_leaves_no_file) {
  database_room room;
  room.run([&room](const sqlite::database& db) -> task<void> {
    co_await db.execute(
        "CREATE TABLE t AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 20000) SELECT i, hex(randomblob(50)) AS text FROM n");
    co_await is_stopped(tandem::with_timeout(0ms, db.backup_to(room.folder / "a.db")),
                        tandem::stop_reason::deadline);
    const auto ended =
        co_await tandem::as_result(tandem::with_timeout(1ms, db.backup_to(room.folder / "b.db")));
    EXPECT_EQ(std::filesystem::exists(room.folder / "b.db"), ended.has_value());
    EXPECT_FALSE(std::filesystem::exists(room.folder / "a.db"));
  });
}

}  // namespace
