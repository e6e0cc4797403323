// answers_test.cpp: what is written is what is read, in types.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tandem/spawn.hpp>
#include <tandem/when_all.hpp>
#include <tuple>
#include <vector>

#include "io/sqlite/sqlite_support.hpp"

namespace {

using tandem::task;
using tandem::test::database_room;

using tandem::test::listed;

namespace sqlite = tandem::io::sqlite;

template <class... Numbers>
sqlite::bytes bytes_of(Numbers... numbers) {
  return listed<std::byte>(static_cast<std::byte>(numbers)...);
}

task<void> words(const sqlite::database& db) {
  co_await db.execute("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT, count INTEGER)");
  static constexpr std::array texts{"one", "two", "three"};
  for (const char* const text : texts) {
    co_await db.execute("INSERT INTO word (text, count) VALUES (?, ?)", text, 7);
  }
}

TEST(sqlite, each_type_comes_back_as_it_went) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    const sqlite::bytes blob = bytes_of(0, 255, 7);
    const std::string text("zero \0 inside, \xc3\xbc", 18);
    const auto least = std::numeric_limits<std::int64_t>::min();
    co_await db.execute("CREATE TABLE t (a, b, c, d, e, f, g)");
    const auto made = co_await db.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", least, 0.25,
                                          text, blob, true, nullptr, std::optional<int>(9));
    EXPECT_EQ(made.changes, 1);
    const auto rows =
        co_await db.query<std::int64_t, double, std::string, sqlite::bytes, bool,
                          std::optional<int>, std::optional<unsigned char>>("SELECT * FROM t");
    const auto expected =
        std::make_tuple(least, 0.25, text, blob, true, std::optional<int>(),
                        std::optional<unsigned char>(static_cast<unsigned char>(9)));
    EXPECT_TRUE(rows.size() == 1 && rows[0] == expected);
    const auto empty = co_await db.query_one<std::string, sqlite::bytes>(
        "SELECT ?, ?", std::string_view(), sqlite::bytes());
    EXPECT_TRUE(empty == std::make_tuple(std::string(), sqlite::bytes()));
  });
}

TEST(sqlite, value_is_whatever_is_stored) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    const auto values = co_await db.query<sqlite::value>(
        "SELECT ? UNION ALL SELECT ? UNION ALL SELECT ? UNION ALL SELECT ? UNION ALL SELECT ?",
        nullptr, 1, 1.5, "x", bytes_of(1));
    const auto expected = listed<sqlite::value>(
        sqlite::value(), sqlite::value(sqlite::argument(1)), sqlite::value(sqlite::argument(1.5)),
        sqlite::value(sqlite::argument("x")), sqlite::value(sqlite::argument(bytes_of(1))));
    EXPECT_TRUE(values == expected);
    // And goes back as it came.
    for (const sqlite::value& each : expected) {
      EXPECT_TRUE(co_await db.query_one<sqlite::value>("SELECT ?", each) == each);
    }
  });
}

TEST(sqlite, one_column_is_its_values_and_several_are_tuples) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await words(db);
    const auto texts = co_await db.query<std::string>("SELECT text FROM word ORDER BY id");
    EXPECT_EQ(texts, listed<std::string>("one", "two", "three"));
    const auto rows = co_await db.query<int, std::string>(
        "SELECT id, text FROM word WHERE id > ? ORDER BY id", 1);
    EXPECT_EQ(rows,
              (listed<std::tuple<int, std::string>>(std::tuple(2, "two"), std::tuple(3, "three"))));
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM word"), 3);
    const auto none = co_await db.query_optional<int, int>("SELECT 1, 2 WHERE 0");
    EXPECT_FALSE(none.has_value());
  });
}

TEST(sqlite, execute_counts_its_own_rows_and_nothing_of_earlier_ones) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await words(db);
    const auto updated = co_await db.execute("UPDATE word SET count = count + 1 WHERE id < 3");
    EXPECT_EQ(updated.changes, 2);
    EXPECT_EQ((co_await db.execute("CREATE TABLE other (a)")).changes, 0);
    EXPECT_EQ((co_await db.execute("SELECT * FROM word")).changes, 0);
    EXPECT_EQ((co_await db.execute("INSERT INTO other VALUES (1)")).last_insert_id, 1);
  });
}

TEST(sqlite, insert_returning_finds_its_way_to_the_writer) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    EXPECT_TRUE(db.reads_apart());
    co_await words(db);
    const auto id =
        co_await db.query_one<int>("INSERT INTO word (text) VALUES (?) RETURNING id", "four");
    EXPECT_EQ(id, 4);
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM word"), 4);
  });
}

TEST(sqlite, arguments_that_are_gone_were_copied) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    std::string text(100, 'a');
    task<std::string> later = db.query_one<std::string>("SELECT ?", std::string_view(text));
    text.assign(100, 'b');
    EXPECT_EQ(co_await std::move(later), std::string(100, 'a'));
  });
}

TEST(sqlite, call_of_many_statements_is_one_transaction) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    const auto given = listed<std::string>("a", "b", "c");
    const auto insert_all = [&](sqlite::session& on) {
      on.execute_script(
          "CREATE TABLE t (text TEXT); -- with a comment\nCREATE INDEX i ON t (text);");
      auto insert = on.prepare("INSERT INTO t VALUES (?)");
      for (const std::string& each : given) insert.execute(each);
      return on.query_one<int>("SELECT count(*) FROM t");
    };
    EXPECT_EQ(co_await db.write(insert_all), 3);
    const auto read_all = [](sqlite::session& on) {
      std::string all;
      on.prepare("SELECT text FROM t WHERE text >= ? ORDER BY text")
          .for_each([&](const sqlite::row& at) { all += at.get<std::string_view>(0); }, "b");
      // A loop within a loop over the same text is another statement.
      on.prepare("SELECT text FROM t").for_each([&](const sqlite::row&) {
        on.prepare("SELECT text FROM t").for_each([&](const sqlite::row&) {
          all += '.';
          return false;
        });
      });
      return all;
    };
    EXPECT_EQ(co_await db.read(read_all), "bc...");
  });
}

TEST(sqlite, reader_sees_one_state_while_others_write) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await words(db);
    const auto look_twice = [&](sqlite::session& on) {
      const int before = on.query_one<int>("SELECT count(*) FROM word");
      // It may wait for the writer, since there is a log: so it says that it is somebody else.
      tandem::spawn(tandem::no_flow, db.execute("DELETE FROM word")).wait();
      return std::pair(before, on.query_one<int>("SELECT count(*) FROM word"));
    };
    const auto both = co_await db.read(look_twice);
    EXPECT_EQ(both, std::pair(3, 3));
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM word"), 0);
  });
}

TEST(sqlite, database_in_memory_has_one_connection_for_all) {
  tandem::test::test_runtime runtime;
  runtime.run([]() -> task<void> {
    const sqlite::database db = co_await sqlite::database::open(":memory:");
    EXPECT_FALSE(db.reads_apart());
    co_await words(db);
    EXPECT_EQ(co_await db.query_one<int>("SELECT count(*) FROM word"), 3);
  }());
}

TEST(sqlite, prepared_statements_beyond_the_limit_are_made_anew) {
  database_room room;
  sqlite::options options;
  options.cached_statements = 2;
  room.run(
      [](const sqlite::database& db) -> task<void> {
        for (int round = 0; round != 3; ++round) {
          for (int i = 0; i != 5; ++i) {
            EXPECT_EQ(co_await db.query_one<int>("SELECT " + std::to_string(i)), i);
          }
        }
      },
      options);
}

TEST(sqlite, tasks_that_write_at_once_lose_nothing) {
  database_room room;
  room.run([](const sqlite::database& db) -> task<void> {
    co_await db.execute("CREATE TABLE counter (n INTEGER)");
    co_await db.execute("INSERT INTO counter VALUES (0)");
    const auto add = [&db](int count) -> task<void> {
      for (int i = 0; i != count; ++i) {
        switch (i % 3) {
          case 0: co_await db.execute("UPDATE counter SET n = n + 1"); break;
          case 1: {
            const auto in_one_hop = [](sqlite::session& on) {
              const int seen = on.query_one<int>("SELECT n FROM counter");
              on.execute("UPDATE counter SET n = ?", seen + 1);
            };
            co_await db.write(in_one_hop);
            break;
          }
          default: {
            const auto step_by_step = [](sqlite::transaction& tx) -> task<void> {
              const int seen = co_await tx.query_one<int>("SELECT n FROM counter");
              co_await tx.execute("UPDATE counter SET n = ?", seen + 1);
            };
            co_await db.with_transaction(step_by_step);
          }
        }
      }
    };
    co_await tandem::when_all(add(60), add(60), add(60), add(60));
    EXPECT_EQ(co_await db.query_one<int>("SELECT n FROM counter"), 240);
  });
}

TEST(sqlite, copy_is_the_database_as_it_is_now) {
  database_room room;
  room.run([&room](const sqlite::database& db) -> task<void> {
    co_await words(db);
    co_await db.backup_to(room.folder / "copy.db");
    co_await db.execute("DELETE FROM word");
    const sqlite::database copy = co_await sqlite::database::open(room.folder / "copy.db");
    EXPECT_EQ(co_await copy.query_one<int>("SELECT count(*) FROM word"), 3);
    co_await tandem::test::fails(db.backup_to(room.folder / "copy.db"), sqlite::errc::misuse,
                                 "there is a file");
  });
}

}  // namespace
