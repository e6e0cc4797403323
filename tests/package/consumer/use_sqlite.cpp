// use_sqlite.cpp: a user's program on tandem::io_sqlite: a row, and an error.
// SPDX-License-Identifier: MIT
//
// An exception of the library's own type crosses its border.
#include <cstdio>
#include <tandem/io/sqlite.hpp>
#include <tandem/run.hpp>
#include <tandem/task.hpp>

namespace sqlite = tandem::io::sqlite;

namespace {

tandem::task<int> ask() {
  const sqlite::database opened = co_await sqlite::database::open(":memory:");
  co_await opened.execute("create table number(n integer)");
  co_await opened.execute("insert into number values (?)", 42);
  int found = co_await opened.query_one<int>("select n from number");
  try {
    co_await opened.execute("nonsense");
  } catch (const sqlite::error& failure) {
    if (failure.code() != sqlite::errc::bad_sql) found = -1;
  }
  co_await opened.close();
  co_return found;
}

}  // namespace

int main() {
  if (tandem::run(ask()) != 42) return 1;
  std::puts("use_sqlite: ok");
}
