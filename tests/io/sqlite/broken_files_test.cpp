// broken_files_test.cpp: files that are no databases, damaged ones, and a disk that is full.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "io/sqlite/sqlite_support.hpp"
#include "io/support/small_disk.hpp"

namespace {

using tandem::task;
using tandem::test::database_room;
using tandem::test::fails;

namespace sqlite = tandem::io::sqlite;
using sqlite::errc;

TEST(sqlite_files, file_that_is_something_else_is_not_opened_and_not_changed) {
  database_room room;
  const std::string text(5000, 'x');
  std::ofstream(room.path) << text;
  room.runtime.run(
      fails(sqlite::database::open(room.path), errc::not_a_database, "file is not a database"));
  EXPECT_EQ(tandem::test::get(room.path), text);
}

TEST(sqlite_files, damage_is_corrupt_and_other_tables_can_still_be_read) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute(
        "CREATE TABLE a AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 5000) SELECT i FROM n");
    co_await db.execute("CREATE TABLE b AS SELECT 7 AS n");
  });
  {
    std::fstream file(room.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);  // the root of the first table, page 2
    file << std::string(4096, '\xff');
  }
  room.run([](const sqlite::database& db) -> task<void> {
    co_await fails(db.query<int>("SELECT i FROM a"), errc::corrupt, "malformed");
    EXPECT_EQ(co_await db.query_one<int>("SELECT n FROM b"), 7);
  });
}

/// Two rows, in one of two ways.
task<void> insert_two(const sqlite::database& db, int number, const std::string& text) {
  const auto plain = [&](sqlite::session& on) {
    for (int row = 0; row != 2; ++row) on.execute("INSERT INTO t VALUES (?, ?)", number, text);
  };
  const auto body = [&](sqlite::transaction& tx) -> task<void> {
    for (int row = 0; row != 2; ++row)
      co_await tx.execute("INSERT INTO t VALUES (?, ?)", number, text);
  };
  if (number % 2 == 0) {
    co_await db.write(plain);
  } else {
    co_await db.with_transaction(body);
  }
}

task<void> fill(std::string path) {
  const sqlite::database db = co_await sqlite::database::open(path);
  co_await db.execute("CREATE TABLE t (n INTEGER, text TEXT)");
  const std::string text(10'000, 'x');
  int told = 0;
  bool is_full = false;
  for (int i = 0; i != 2000 && !is_full; ++i) {
    const auto ended = co_await tandem::as_result(insert_two(db, i, text));
    is_full = !ended.has_value();
    told += is_full ? 0 : 1;
    EXPECT_TRUE(!is_full || ended.error() == errc::full) << ended.error().message();
  }
  EXPECT_TRUE(is_full);
  EXPECT_GT(told, 2);
  // Nothing half is there, and what fits goes on.
  EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 2 * told);
  co_await db.close();
}

TEST(sqlite_files, full_disk_is_said_and_nothing_half_is_stored) {
  tandem::test::on_small_disk("size=2m", [](const std::string& disk) {
    tandem::test::test_runtime runtime;
    runtime.run(fill(disk + "/law.db"));
  });
}

}  // namespace
