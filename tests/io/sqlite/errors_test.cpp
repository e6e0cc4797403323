// errors_test.cpp: each failure has its own code, and words that help.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "io/sqlite/sqlite_support.hpp"

namespace {

using tandem::task;
using tandem::test::database_room;
using tandem::test::fails;

namespace sqlite = tandem::io::sqlite;
using sqlite::errc;

task<void> two_tables(const sqlite::database& db) {
  const auto schema = [](sqlite::session& on) {
    on.execute_script(
        "CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INTEGER CHECK "
        "(age >= 0)) STRICT;"
        "CREATE TABLE pet (name TEXT, owner INTEGER REFERENCES owner);"
        "CREATE TRIGGER none BEFORE DELETE ON pet BEGIN SELECT RAISE(ABORT, 'pets stay'); END;"
        "INSERT INTO owner VALUES (1, 'ann', 30); INSERT INTO pet VALUES ('rex', 1);");
  };
  co_await db.write(schema);
}

TEST(sqlite_errors, each_constraint_has_its_code_and_the_row_is_not_there) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await two_tables(db);
    const std::string insert = "INSERT INTO owner VALUES (?, ?, ?)";
    co_await fails(db.execute(insert, 2, "ann", 1), errc::constraint_unique, "owner.name");
    co_await fails(db.execute(insert, 1, "bob", 1), errc::constraint_unique, "owner.id");
    co_await fails(db.execute(insert, 2, nullptr, 1), errc::constraint_not_null, "owner.name");
    co_await fails(db.execute(insert, 2, "bob", -1), errc::constraint_check, "age >= 0");
    co_await fails(db.execute(insert, 2, "bob", "old"), errc::constraint_check,
                   "INTEGER column owner.age");
    co_await db.execute("CREATE TABLE numbered (id INTEGER PRIMARY KEY)");
    co_await fails(db.execute("INSERT INTO numbered VALUES ('x')"), errc::constraint_check,
                   "datatype mismatch");
    co_await fails(db.query<int>("SELECT 1 LIMIT ?", "x"), errc::wrong_type, "as that of LIMIT");
    co_await fails(db.execute("INSERT INTO pet VALUES ('x', 9)"), errc::constraint_foreign_key,
                   "FOREIGN KEY");
    co_await fails(db.execute("DELETE FROM owner"), errc::constraint_foreign_key);
    co_await fails(db.execute("DELETE FROM pet"), errc::constraint, "pets stay");
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM owner"), 1);
  });
}

TEST(sqlite_errors, column_that_does_not_fit_is_named) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await fails(db.query<int>("SELECT NULL AS age"), errc::wrong_type,
                   "column 0 (age) holds NULL, and an integer");
    co_await fails(db.query<int, std::string>("SELECT 1, 2 AS name"), errc::wrong_type,
                   "column 1 (name) holds an integer, and text");
    co_await fails(db.query_one<int>("SELECT '7' AS n"), errc::wrong_type, "holds text");
    co_await fails(db.query_one<int>("SELECT 1.5 AS n"), errc::wrong_type, "holds a real");
    co_await fails(db.query_one<signed char>("SELECT 128 AS n"), errc::wrong_type,
                   "not between -128 and 127");
    co_await fails(db.query_one<unsigned>("SELECT -1 AS n"), errc::wrong_type, "not between 0 and");
    co_await fails(db.query_one<bool>("SELECT 2 AS n"), errc::wrong_type, "not between 0 and 1");
    co_await fails(db.query_one<sqlite::bytes>("SELECT 'x' AS n"), errc::wrong_type,
                   "bytes was asked for");
  });
}

TEST(sqlite_errors, counts_of_places_columns_and_rows_are_checked) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await fails(db.execute("SELECT ?, ?", 1), errc::wrong_count,
                   "has 2 places, and 1 argument was given");
    co_await fails(db.query<int>("SELECT 1, 2"), errc::wrong_count,
                   "has 2 columns, and 1 type was asked for");
    co_await fails(db.query<int, int>("SELECT 1"), errc::wrong_count,
                   "has 1 column, and 2 types were asked for");
    co_await fails(db.execute("SELECT ?", 1, 2), errc::wrong_count,
                   "has 1 place, and 2 arguments were given");
    co_await fails(db.query_one<int>("SELECT 1 WHERE 0"), errc::no_row);
    co_await fails(db.query_one<int>("VALUES (1), (2)"), errc::too_many_rows);
    co_await fails(db.query_optional<int>("VALUES (1), (2)"), errc::too_many_rows);
  });
}

TEST(sqlite_errors, columns_are_counted_from_0_as_they_are_read) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    const auto beyond = [](sqlite::session& on) {
      auto two = on.prepare("SELECT 1, 2");
      two.for_each([](const sqlite::row& at) { (void)at.get<int>(2); });
    };
    co_await fails(db.read(beyond), errc::wrong_count,
                   "there is no column 2: the statement has 2, and the first one is 0");
  });
}

TEST(sqlite_errors, database_that_was_closed_is_said_to_be_closed_once) {
  database_room room;
  room.runtime.run([](std::string path) -> task<void> {
    const sqlite::database db = co_await sqlite::database::open(path);
    co_await db.close();
    try {
      co_await db.execute("SELECT 1");
      ADD_FAILURE() << "nothing was thrown";
    } catch (const sqlite::error& failure) {
      const std::string_view what = failure.what();
      EXPECT_EQ(what.find("was closed"), what.rfind("was closed")) << what;
      EXPECT_NE(what.find("was closed"), what.npos) << what;
    }
  }(room.path));
}

TEST(sqlite_errors, text_that_is_no_single_statement_is_refused) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await fails(db.execute("SELEC 1"), errc::bad_sql,
                   "near \"SELEC\": syntax error in `SELEC 1`");
    co_await fails(db.query<int>("SELECT x FROM nowhere"), errc::bad_sql, "no such table: nowhere");
    co_await fails(db.execute("SELECT 1; SELECT 2"), errc::misuse, "more than one statement");
    co_await fails(db.execute("  -- nothing"), errc::bad_sql, "there is no statement");
    EXPECT_EQ(co_await db.query_one<int>("SELECT 1; -- no more"), 1);
    co_await fails(db.execute("BEGIN"), errc::misuse, "with_transaction()");
    EXPECT_EQ((co_await db.execute("CREATE TABLE t (a)")).changes, 0);  // nothing was left open
  });
}

TEST(sqlite_errors, message_has_the_beginning_of_the_statement_in_one_line) {
  const sqlite::error failure(errc::bad_sql, "why",
                              "SELECT\n   a,\t b  \nFROM " + std::string(200, 'x'));
  EXPECT_EQ(failure.statement(), "SELECT a, b FROM " + std::string(83, 'x') + "...");
  EXPECT_EQ(failure.code(), errc::bad_sql);
  EXPECT_STREQ(failure.code().category().name(), "tandem.sqlite");
  // Nothing is cut in the middle of a character.
  const sqlite::error cut(errc::failed, "why", std::string(99, 'x') + "\xc3\xbc and more");
  EXPECT_EQ(cut.statement(), std::string(99, 'x') + "...");
}

TEST(sqlite_errors, each_code_says_what_to_do) {
  std::vector<std::string> texts;
  for (int code = 1; code <= static_cast<int>(errc::failed); ++code) {
    texts.push_back(make_error_code(static_cast<errc>(code)).message());
    EXPECT_EQ(texts.back().find("unknown"), std::string::npos);
  }
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
}

TEST(sqlite_errors, read_does_not_write) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    const auto writes = [](sqlite::session& on) { on.execute("CREATE TABLE t (a)"); };
    co_await fails(db.read(writes), errc::read_only, "a statement that writes, in read()");
    const auto script = [](sqlite::session& on) { on.execute_script("CREATE TABLE t (a)"); };
    co_await fails(db.read(script), errc::read_only);
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM sqlite_schema"), 0);
  });
}

TEST(sqlite_errors, database_for_reading_refuses_what_writes) {
  database_room room;
  room.run(
      [](const sqlite::database& db) -> task<void> { co_await db.execute("CREATE TABLE t (a)"); });
  sqlite::options options;
  options.read_only = true;
  room.run(
      [](const sqlite::database& db) -> task<void> {
        EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 0);
        co_await fails(db.execute("INSERT INTO t VALUES (1)"), errc::read_only,
                       "readonly database");
      },
      options);
}

TEST(sqlite_errors, options_that_cannot_be_are_refused_by_name) {
  database_room room;
  room.runtime.run([](std::string path) -> task<void> {
    sqlite::options options;
    options.steps_between_looks = 0;
    co_await fails(sqlite::database::open(path, options), errc::bad_option, "steps_between_looks");
    options = {};
    options.busy_timeout = std::chrono::milliseconds(-1);
    co_await fails(sqlite::database::open(path, options), errc::bad_option, "busy_timeout");
    options = {};
    options.each_connection = "PRAGMA case_sensitive_like=ON; SELECT broken FROM nowhere";
    co_await fails(sqlite::database::open(path, options), errc::bad_sql, "nowhere");
    options = {};
    options.create = false;
    co_await fails(sqlite::database::open(path + ".not", options), errc::cannot_open,
                   path + ".not");
    co_await fails(sqlite::database::open("/nowhere/at/all.db"), errc::cannot_open,
                   "/nowhere/at/all.db");
    co_await fails(sqlite::database::open(std::string("a\0b", 3)), errc::bad_option, "zero byte");
  }(room.path));
}

TEST(sqlite_errors, number_beyond_what_can_be_stored_is_refused_at_the_call) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    EXPECT_THROW((void)db.execute("SELECT ?", std::numeric_limits<std::uint64_t>::max()),
                 sqlite::error);
    co_return;
  });
}

TEST(sqlite_errors, change_whose_rows_do_not_fit_has_not_happened) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE t (n)");
    co_await fails(db.query<int>("INSERT INTO t VALUES (1), ('x'), (3) RETURNING n"),
                   errc::wrong_type, "holds text");
    co_await fails(db.query_one<int>("INSERT INTO t VALUES (1), (2) RETURNING n"),
                   errc::too_many_rows);
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 0);
    EXPECT_EQ(co_await db.query_one<int>("INSERT INTO t VALUES (1) RETURNING n"), 1);
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM t"), 1);
  });
}

TEST(sqlite_errors, statement_is_not_run_while_it_runs) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    const auto twice = [](sqlite::session& on) {
      auto numbers = on.prepare("VALUES (1), (2)");
      numbers.for_each([&](const sqlite::row&) { (void)numbers.query<int>(); });
    };
    co_await fails(db.read(twice), errc::misuse, "while it runs");
  });
}

}  // namespace
