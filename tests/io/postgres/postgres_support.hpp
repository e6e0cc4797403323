// postgres_support.hpp: a server for the tests of tandem::io_postgres, and what they ask of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/io/postgres.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "io/support/servers.hpp"
#include "test_runtime.hpp"

namespace tandem::test {

namespace postgres = tandem::io::postgres;

inline bool has_postgres() {
  static const bool has = test_server::is_installed("postgres");
  return has;
}

inline std::string conninfo_of(const test_server& server, std::string_view more = {}) {
  return "host=127.0.0.1 port=" + std::to_string(server.port()) +
         " user=tandem dbname=postgres sslmode=disable gssencmode=disable " + std::string(more);
}

inline task<postgres::connection> connect_to(const test_server& server,
                                             postgres::connect_options options = {}) {
  return postgres::connection::open(conninfo_of(server), std::move(options));
}

/// A server that all of its tests share, and which none of them ends.
class with_postgres : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_postgres()) GTEST_SKIP() << "postgres is not installed (Debian: postgresql)";
    (void)server();  // by the thread that stays
  }
  static test_server& server() { return shared_server("postgres"); }

  /// Runs `body(connection)` on a connection of its own.
  template <class Body>
  static void with_connection(Body body, postgres::connect_options options = {}) {
    test_runtime rt;
    rt.run([](Body& b, postgres::connect_options o) -> task<void> {
      postgres::connection c = co_await connect_to(server(), std::move(o));
      co_await b(c);
    }(body, std::move(options)));
  }
};

/// Awaits it, and looks at how it has failed.
template <class T>
task<std::string> failure_text(task<T> failing, postgres::errc expected) {
  const auto got = co_await as_result(std::move(failing));
  EXPECT_FALSE(got.has_value()) << "it has not failed";
  if (got.has_value()) co_return std::string();
  EXPECT_EQ(got.error(), postgres::make_error_code(expected));
  try {
    std::rethrow_exception(got.exception());
  } catch (const std::exception& told) {
    const std::string text = told.what();
    EXPECT_EQ(got.error(), postgres::make_error_code(expected)) << text;
    co_return text;
  }
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A table of its own for each test, empty.
inline task<void> make_table(postgres::connection& c, std::string name, std::string columns) {
  (void)co_await c.execute("drop table if exists " + name + "; create table " + name + " (" +
                           columns + ")");
}

inline task<std::int64_t> count_rows(postgres::connection& c, std::string table) {
  const auto got = co_await c.query<std::int64_t>("select count(*) from " + table);
  co_return got.at(0);
}

}  // namespace tandem::test
