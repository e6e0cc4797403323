// after_postgres.cpp: CONNINFO ORDERS: a task for each client, which says what it does from top to bottom.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <tandem/io/install.hpp>
#include <tandem/io/postgres.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>

#include "job.hpp"

namespace {

namespace postgres = tandem::io::postgres;
using tandem::task;

task<void> serve(std::string conninfo, int client, int orders, int& refused) {
  auto c = co_await postgres::connection::open(conninfo);
  for (int n = shop::next_order(client, -1); n < orders; n = shop::next_order(client, n)) {
    const shop::order now(n);
    const auto sells = [&now](postgres::transaction& t) -> task<void> {
      co_await t.query(shop::take, now.amount, now.thing);
      co_await t.query(shop::note, now.number, now.thing, now.amount);
    };
    try {
      co_await c.with_transaction(sells);
    } catch (const postgres::error& why) {
      if (why.code() != postgres::errc::check_violation) throw;
      ++refused;
    }
  }
}

task<void> run_shop(std::string conninfo, int orders) {
  auto first = co_await postgres::connection::open(conninfo);
  co_await first.execute(shop::set_up);
  int refused = 0;
  const auto all = [&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < shop::clients; ++i) scope.spawn(serve(conninfo, i, orders, refused));
    co_return;
  };
  co_await tandem::with_scope(all);
  const auto sold = co_await first.query<int, int, int, int>(shop::report);
  for (const auto& [thing, left, count, amount] : sold) {
    std::printf("thing %d: %d left, %d orders of %d\n", thing, left, count, amount);
  }
  std::printf("%d refused\n", refused);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    tandem::runtime runtime;
    // Clients mostly wait, so they live where waits end: on one thread, as before. `refused` needs no lock.
    tandem::executor& home = tandem::io::install(runtime).thread(0).executor();
    tandem::sync_wait(home, run_shop(argv[1], std::atoi(argv[2])));
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
  }
}
