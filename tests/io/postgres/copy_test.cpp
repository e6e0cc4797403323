// copy_test.cpp: COPY both ways, whole, given up, and refused.
// SPDX-License-Identifier: MIT
#include <optional>
#include <span>
#include <tandem/timeout.hpp>
#include <utility>

#include "io/postgres/postgres_support.hpp"

namespace {

using namespace tandem::test;
using postgres::connection;
using postgres::copy_in;
using postgres::copy_out;
using postgres::errc;
using tandem::as_result;
using tandem::task;

class postgres_copy : public with_postgres {};

task<std::string> read_all(copy_out from) {
  std::string all;
  while (true) {
    const std::span<const std::byte> row = co_await from.read();
    if (row.empty()) co_return all;
    all.append(reinterpret_cast<const char*>(row.data()), row.size());
  }
}

TEST_F(postgres_copy, what_goes_in_comes_out) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "both_ways", "i int, t text");
    std::string lines;
    for (int i = 0; i < 50'000; ++i)
      lines += std::to_string(i) + "\tname " + std::to_string(i) + "\n";
    copy_in in = co_await c.copy_in("copy both_ways from stdin");
    // Cut anywhere.
    for (std::size_t at = 0; at < lines.size(); at += 77'777) {
      const std::string_view part = std::string_view(lines).substr(at, 77'777);
      co_await in.write_all(part);
    }
    EXPECT_EQ(co_await in.finish(), 50'000U);
    (void)co_await failure_text(in.write_all("1\n"), errc::closed);
    EXPECT_EQ(co_await count_rows(c, "both_ways"), 50'000);
    copy_out out = co_await c.copy_out("copy (select * from both_ways order by i) to stdout");
    const std::string back = co_await read_all(std::move(out));
    EXPECT_TRUE(back == lines) << back.size() << " of " << lines.size();
    EXPECT_EQ((co_await c.query<int>("select 1")).at(0), 1);
  });
}

TEST_F(postgres_copy, what_is_dropped_has_put_nothing_in_and_the_connection_goes_on) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "dropped", "i int");
    {
      copy_in in = co_await c.copy_in("copy dropped from stdin");
      co_await in.write_all("1\n2\n");
      (void)co_await failure_text(c.query("select 1"), errc::in_use);
    }
    EXPECT_EQ(co_await count_rows(c, "dropped"), 0);
    copy_in cancelled = co_await c.copy_in("copy dropped from stdin");
    co_await cancelled.write_all("1\n2\n");
    co_await cancelled.cancel();
    EXPECT_EQ(co_await count_rows(c, "dropped"), 0);
    {
      copy_out out = co_await c.copy_out("copy (select generate_series(1, 100000000)) to stdout");
      EXPECT_FALSE((co_await out.read()).empty());
    }
    EXPECT_EQ((co_await c.query<int>("select 1")).at(0), 1);
    copy_out out = co_await c.copy_out("copy (select generate_series(1, 100000000)) to stdout");
    EXPECT_FALSE((co_await out.read()).empty());
    co_await out.cancel();
    EXPECT_TRUE((co_await out.read()).empty());
    EXPECT_EQ((co_await c.query<int>("select 2")).at(0), 2);
    EXPECT_TRUE(c.is_usable());
  });
}

TEST_F(postgres_copy, bad_rows_are_told_and_nothing_is_in_the_table) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "refused", "i int");
    copy_in in = co_await c.copy_in("copy refused from stdin");
    co_await in.write_all("1\ntwo\n3\n");
    (void)co_await failure_text(in.finish(), errc::bad_data);
    EXPECT_EQ(co_await count_rows(c, "refused"), 0);
    // The server says so while much is still being sent.
    copy_in large = co_await c.copy_in("copy refused from stdin");
    const std::string lines(1 << 20, 'x');
    std::optional<std::error_code> why;
    try {
      for (int i = 0; i < 20; ++i) co_await large.write_all(lines);
      (void)co_await large.finish();
    } catch (const postgres::error& told) {
      why = told.code();
    }
    EXPECT_EQ(why, std::optional<std::error_code>(errc::bad_data));
    (void)co_await failure_text(c.copy_in("copy nowhere from stdin"), errc::bad_statement);
    (void)co_await failure_text(c.copy_in("select 1"), errc::bad_statement);
    (void)co_await failure_text(c.copy_in("copy refused to stdout"), errc::bad_statement);
    (void)co_await failure_text(c.copy_out("copy refused from stdin"), errc::bad_statement);
    copy_out fails =
        co_await c.copy_out("copy (select 1 / (5 - i) from generate_series(1, 9) i) to stdout");
    (void)co_await failure_text(read_all(std::move(fails)), errc::bad_data);
    EXPECT_EQ((co_await c.query<int>("select 1")).at(0), 1);
  });
}

TEST_F(postgres_copy, a_stopped_read_loses_no_row) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection holds = co_await connect_to(server());
    connection c = co_await connect_to(server());
    (void)co_await holds.query("select pg_advisory_lock(1)");
    // Wide rows, so that the server does not keep the first ones to itself; the fourth one waits.
    copy_out out = co_await c.copy_out(
        "copy (select i || repeat('x', 20000), case when i = 4 then pg_advisory_lock(1)::text end "
        "from generate_series(1, 6) i) to stdout");
    std::string all;
    int stops = 0;
    while (true) {
      auto got = co_await as_result(tandem::with_timeout(std::chrono::milliseconds(2), out.read()));
      if (!got.has_value()) {
        EXPECT_TRUE(got.is_cancelled());
        if (++stops == 3) (void)co_await holds.query("select pg_advisory_unlock(1)");
        continue;
      }
      const std::span<const std::byte> row = got.value();
      if (row.empty()) break;
      all += static_cast<char>(row[0]);
    }
    EXPECT_EQ(all, "123456");
    EXPECT_GE(stops, 3);
  }());
}

TEST_F(postgres_copy, works_inside_of_a_transaction_and_is_rolled_back_with_it) {
  with_connection([](connection& c) -> task<void> {
    co_await make_table(c, "within", "i int");
    const auto body = [](postgres::transaction& t) -> task<void> {
      copy_in in = co_await t.copy_in("copy within from stdin");
      co_await in.write_all("1\n");
      EXPECT_EQ(co_await in.finish(), 1U);
      copy_in lost = co_await t.copy_in("copy within from stdin");
      co_await lost.write_all("2\n");
      throw std::runtime_error("no");
    };
    EXPECT_FALSE((co_await as_result(c.with_transaction(body))).has_value());
    EXPECT_TRUE(c.is_usable());
    EXPECT_EQ(co_await count_rows(c, "within"), 0);
  });
}

}  // namespace
