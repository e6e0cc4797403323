// full_disk_test.cpp: a PostgreSQL whose disk is full.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/postgres.hpp>
#include <tandem/task.hpp>

#include "io/postgres/postgres_support.hpp"
#include "io/support/small_disk.hpp"

namespace {

using tandem::task;
using tandem::test::test_server;
namespace postgres = tandem::io::postgres;

constexpr const char* insert_600_kilobytes =
    "insert into t select $1, string_agg(md5(random()::text), '') from generate_series(1, 20000)";

task<void> insert_two(postgres::connection& c, int number) {
  const auto both = [number](postgres::transaction& t) -> task<void> {
    co_await t.query(insert_600_kilobytes, number);
    co_await t.query(insert_600_kilobytes, -number);
  };
  co_await c.with_transaction(both);
}

task<void> fill(test_server& server) {
  auto c = co_await tandem::test::connect_to(server);
  // Unlogged: it is the table that finds no room, not the server's log, which would end the server.
  (void)co_await c.execute("create unlogged table t (n int, text text)");
  int told = 0;
  bool is_full = false;
  while (!is_full && told < 1000) {
    const auto ended = co_await tandem::as_result(insert_two(c, told + 1));
    is_full = !ended.has_value();
    told += is_full ? 0 : 1;
    if (!is_full) continue;
    EXPECT_EQ(ended.error(), postgres::make_error_code(postgres::errc::out_of_resources));
    try {
      ended.value();
    } catch (const postgres::error& why) {
      EXPECT_EQ(why.sqlstate(), "53100");
      EXPECT_TRUE(tandem::test::contains(why.what(), "could not extend file")) << why.what();
    }
  }
  EXPECT_TRUE(is_full);
  EXPECT_GT(told, 2);
  // Nothing half is there, and the connection goes on.
  EXPECT_TRUE(c.is_usable());
  EXPECT_EQ(co_await tandem::test::count_rows(c, "t"), 2 * told);
  (void)co_await c.execute("drop table t");
  (void)co_await c.execute("create unlogged table t (n int, text text)");
  co_await insert_two(c, 1);
  EXPECT_EQ(co_await tandem::test::count_rows(c, "t"), 2);
}

TEST(postgres_full_disk, what_found_no_room_is_told_and_undone_and_the_connection_goes_on) {
  if (!tandem::test::has_postgres())
    GTEST_SKIP() << "postgres is not installed (Debian: postgresql)";
  tandem::test::on_small_disk_of_a_server("size=76m", [](const std::string&) {
    test_server server("postgres");
    tandem::test::test_runtime rt;
    rt.run(fill(server));
  });
}

}  // namespace
