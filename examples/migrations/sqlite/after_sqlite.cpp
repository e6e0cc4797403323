// after_sqlite.cpp: clients that transfer money, each a task; no thread waits for the database but those that have it.
// SPDX-License-Identifier: MIT
#include <exception>
#include <tandem/io/sqlite.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>

#include "bank.hpp"

namespace {

namespace sqlite = tandem::io::sqlite;
using tandem::task;

struct totals {
  int done = 0;
  int refused = 0;
  int wrong = 0;
};

task<bool> transfer(const sqlite::database& db, bank::transfer what) {
  const auto both = [&what](sqlite::session& on) {
    on.execute(bank::take, what.cents, what.from);
    on.execute(bank::give, what.cents, what.to);
  };
  const auto ended = co_await tandem::as_result(db.write(both));
  if (!ended && ended.error() != sqlite::errc::constraint_check) ended.value();
  co_return ended.has_value();
}

task<void> client(int id, const bank::settings& given, const sqlite::database& db, totals& all) {
  for (int number = 0; number != given.transfers; ++number) {
    const bool done = co_await transfer(db, bank::transfer(id, number, given.clients));
    ++(done ? all.done : all.refused);
    const auto cents = co_await db.query_one<long long>(bank::balance, id);
    all.wrong += cents < 0 ? 1 : 0;
  }
}

task<void> serve(const bank::settings& given) {
  sqlite::options options;
  options.synchronous = sqlite::sync_mode::normal;
  const sqlite::database db = co_await sqlite::database::open(given.file, options);
  co_await db.execute(bank::schema);
  for (int id = 0; id != given.clients; ++id) co_await db.execute(bank::deposit, id);
  totals all;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (int id = 0; id != given.clients; ++id) scope.spawn(client(id, given, db, all));
    co_return;
  });
  const auto rows = co_await db.query<long long, long long>(bank::all);
  for (const auto& [id, cents] : rows) bank::report(id, cents);
  bank::report_end(all.done, all.refused, all.wrong);
  co_await db.close();
}

}  // namespace

int main(int argc, char** argv) {
  const bank::settings given(argc, argv);
  tandem::runtime_options one;
  one.max_threads = 1;  // the clients' counts are of one thread, as a loop's are
  try {
    tandem::run(serve(given), one);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
  }
  return 0;
}
