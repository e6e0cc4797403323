// end_test.cpp: close, destruction, and calls that come too late.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <tandem/event.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <utility>

#include "io/sqlite/sqlite_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::database_room;
using tandem::test::fails;

namespace sqlite = tandem::io::sqlite;
using sqlite::errc;

TEST(sqlite_end, closed_database_refuses_each_call) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    EXPECT_TRUE(db.is_open());
    co_await db.close();
    EXPECT_FALSE(db.is_open());
    co_await fails(db.execute("SELECT 1"), errc::closed);
    co_await fails(db.query<int>("SELECT 1"), errc::closed);
    const auto plain = [](sqlite::session&) {};
    co_await fails(db.read(plain), errc::closed);
    co_await fails(db.write(plain), errc::closed);
    const auto body = [](sqlite::transaction&) -> task<void> { co_return; };
    co_await fails(db.with_transaction(body), errc::closed);
    co_await db.close();
  });
}

TEST(sqlite_end, close_waits_for_what_is_under_way_and_refuses_what_waits) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n INTEGER)");
    tandem::event begun;
    tandem::event refused;
    const auto body = [&](sqlite::transaction& tx) -> task<void> {
      begun.set();
      co_await refused.wait();
      co_await tx.execute("INSERT INTO t VALUES (1)");
    };
    const auto closes = [&]() -> task<void> {
      co_await begun.wait();
      co_await db.close();
    };
    const auto waits = [&]() -> task<void> {
      co_await begun.wait();
      co_await fails(db.execute("INSERT INTO t VALUES (2)"), errc::closed);
    };
    const auto late = [&]() -> task<void> {
      while (db.is_open()) co_await tandem::yield();
      co_await fails(db.query<int>("SELECT n FROM t"), errc::closed);
      refused.set();
    };
    co_await tandem::when_all(db.with_transaction(body), closes(), waits(), late());
  });
  room.run([](const sqlite::database& db) -> task<void> {
    EXPECT_EQ(co_await db.query<int>("SELECT n FROM t"), tandem::test::listed<int>(1));
  });
}

TEST(sqlite_end, close_merges_the_log_and_the_destructor_leaves_it_whole) {
  database_room room;
  const auto insert = [&room](bool closes) -> task<void> {
    const sqlite::database db = co_await sqlite::database::open(room.path);
    co_await db.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER)");
    co_await db.execute("INSERT INTO t VALUES (1)");
    if (closes) co_await db.close();
  };
  room.runtime.run(insert(false));
  EXPECT_TRUE(std::filesystem::exists(room.path + "-wal"));
  room.runtime.run(insert(true));
  EXPECT_FALSE(std::filesystem::exists(room.path + "-wal"));
  room.run([](const sqlite::database& db) -> task<void> {
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 2);
  });
}

TEST(sqlite_end, handle_may_go_while_its_calls_are_under_way) {
  database_room room;
  room.runtime.run([](std::string path) -> task<void> {
    std::optional<sqlite::database> db(co_await sqlite::database::open(path));
    co_await db->execute("CREATE TABLE t (n INTEGER)");
    tandem::event gone;
    const auto body = [&](sqlite::transaction& tx) -> task<int> {
      co_await gone.wait();
      co_await tx.execute("INSERT INTO t VALUES (1)");
      co_return co_await tx.query_one<int>("SELECT count(*) FROM t");
    };
    const auto lets_go = [&]() -> task<void> {
      db.reset();
      gone.set();
      co_return;
    };
    auto call = db->with_transaction(body);
    const auto [count, nothing] = co_await tandem::when_all(std::move(call), lets_go());
    EXPECT_EQ(count, 1);
  }(room.path));
  room.run([](const sqlite::database& db) -> task<void> {
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 1);
  });
}

TEST(sqlite_end, stopped_close_is_closed_all_the_same) {
  database_room room;
  room.runtime.run([](std::string path) -> task<void> {
    const sqlite::database db = co_await sqlite::database::open(path);
    tandem::event tried;
    tandem::event begun;
    const auto body = [&](sqlite::transaction& tx) -> task<void> {
      begun.set();
      co_await tried.wait();
      co_await tx.execute("CREATE TABLE t (n INTEGER)");
    };
    const auto closes = [&]() -> task<void> {
      co_await begun.wait();
      const auto ended = co_await tandem::as_result(tandem::with_timeout(1ms, db.close()));
      EXPECT_EQ(ended.reason(), tandem::stop_reason::deadline);
      tried.set();
    };
    co_await tandem::when_all(db.with_transaction(body), closes());
    co_await fails(db.execute("SELECT 1"), errc::closed);
  }(room.path));
}

TEST(sqlite_end, handle_that_was_moved_from_says_so) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    sqlite::database first = co_await sqlite::database::open(":memory:");
    const sqlite::database second = std::move(first);
    EXPECT_FALSE(first.is_open());  // NOLINT
    co_await fails(first.execute("SELECT 1"), errc::closed, "moved from");
    EXPECT_THROW((void)first.close(), sqlite::error);
    EXPECT_EQ(co_await second.query_one<int>("SELECT 1"), 1);
    EXPECT_TRUE(db.is_open());
  });
}

}  // namespace
