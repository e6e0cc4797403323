// tandem.cpp: suite postgres: tandem::io_postgres, a task for each connection, all on one completion thread.
// SPDX-License-Identifier: MIT
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/postgres.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "measured.hpp"

namespace {

namespace postgres = tandem::io::postgres;
using postgres_bench::clock;
using tandem::task;

void check(int got, int expected) {
  if (got != expected) std::abort();
}

task<void> ask(postgres::connection& c, postgres_bench::counter& counts) {
  const postgres::statement asked = co_await c.prepare(postgres_bench::sql);
  for (int i = 0; !counts.is_over(); ++i) {
    const auto began = clock::now();
    const postgres::rows got = co_await c.query(asked, i);
    check(got[0].get<int>(0), i);
    counts.add(began);
  }
}

task<void> send_batches(postgres::connection& c, postgres_bench::counter& counts) {
  const postgres::statement asked = co_await c.prepare(postgres_bench::sql);
  const auto body = [&](postgres::pipeline& p) -> task<void> {
    std::vector<postgres::pipeline_answer> all;
    while (!counts.is_over()) {
      const auto began = clock::now();
      for (int i = 0; i < postgres_bench::batch; ++i) all.push_back(co_await p.send(asked, i));
      co_await p.sync();
      for (int i = 0; i < postgres_bench::batch; ++i) {
        const postgres::rows got = co_await all[static_cast<std::size_t>(i)].get();
        check(got[0].get<int>(0), i);
      }
      all.clear();
      counts.add(began);
    }
  };
  co_await c.with_pipeline(body);
}

task<void> load(tandem::executor& home, const postgres_bench::settings& with) {
  co_await tandem::resume_on(home);
  std::vector<postgres::connection> all;
  for (int i = 0; i < with.connections; ++i) {
    all.push_back(co_await postgres::connection::open(with.conninfo));
  }
  postgres_bench::counter counts(with);
  const auto each = [&](tandem::task_scope& scope) -> task<void> {
    for (postgres::connection& c : all) {
      scope.spawn(home, with.is_pipeline ? send_batches(c, counts) : ask(c, counts));
    }
    co_return;
  };
  co_await tandem::with_scope(each);
  counts.print();
}

}  // namespace

int main(int argc, char** argv) {
  const postgres_bench::settings with(argc, argv);
  tandem::runtime_options options;
  options.min_threads = options.max_threads = 1;
  tandem::runtime runtime(options);
  tandem::io::completion_options threads;
  threads.min_threads = threads.max_threads = 1;
  tandem::io::completion_pool& pool = tandem::io::install(runtime, threads);
  tandem::sync_wait(runtime.workers(), load(pool.thread(0).executor(), with));
}
