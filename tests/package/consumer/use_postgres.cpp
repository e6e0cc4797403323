// use_postgres.cpp: a user's program on tandem::io_postgres: a connection that nobody takes.
// SPDX-License-Identifier: MIT
//
// An exception of the library's own type crosses its border.
#include <cstdio>
#include <tandem/io/postgres.hpp>
#include <tandem/run.hpp>
#include <tandem/task.hpp>

namespace postgres = tandem::io::postgres;

namespace {

tandem::task<bool> is_refused() {
  try {
    const postgres::connection opened =
        co_await postgres::connection::open("postgresql://nobody@127.0.0.1:1/nothing");
  } catch (const postgres::error& failure) {
    co_return failure.code() == postgres::errc::cannot_connect;
  }
  co_return false;
}

}  // namespace

int main() {
  if (!tandem::run(is_refused())) return 1;
  std::puts("use_postgres: ok");
}
