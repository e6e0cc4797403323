// main.cpp: suite sqlite: single statements, and many in one hop, by tandem and by a thread with a queue.
// SPDX-License-Identifier: MIT
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tandem/io/sqlite.hpp>
#include <tandem/task_scope.hpp>
#include <thread>
#include <vector>

#include "../bench.hpp"
#include "../workers.hpp"
#include "queue_thread.hpp"

namespace {

using namespace tandem;
namespace sqlite = tandem::io::sqlite;

constexpr int rows = 10'000;
constexpr int batch = 100;
const std::string text(50, 'x');

double cpu_us() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& t) {
    return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec);
  };
  return us(used.ru_utime) + us(used.ru_stime);
}

/// A file in memory with rows to be read; gone with the sample.
class sample_file {
 public:
  sample_file()
      : folder_(std::filesystem::path("/dev/shm") /
                ("tandem-bench-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
    sqlite3* on = nullptr;
    sqlite3_open(path().c_str(), &on);
    const std::string fill =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE t (id INTEGER PRIMARY KEY, "
        "text TEXT);"
        "CREATE TABLE u (id INTEGER, text TEXT); WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL "
        "SELECT i + 1 FROM n "
        "WHERE i < 9999) INSERT INTO t SELECT i, '" +
        text + "' FROM n";
    const int code = sqlite3_exec(on, fill.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(on);
    bench::expect_equal(code, SQLITE_OK, "the answer of sqlite3_exec");
  }
  sample_file(const sample_file&) = delete;
  sample_file& operator=(const sample_file&) = delete;
  ~sample_file() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ / "bench.db"; }

 private:
  const std::filesystem::path folder_;
};

/// What one request asks for, by either side.
enum class kind { select, many_selects, many_inserts };

/// Of one caller that asks again and again: how long each of them took.
using latencies = std::vector<double>;

class stop_watch {
 public:
  explicit stop_watch(latencies& into) : into_(into), start_(std::chrono::steady_clock::now()) {}
  ~stop_watch() {
    into_.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_)
            .count());
  }

 private:
  latencies& into_;
  const std::chrono::steady_clock::time_point start_;
};

task<void> one_request(const sqlite::database& db, kind what, int number) {
  if (what == kind::select) {
    const auto got =
        co_await db.query_one<std::string>("SELECT text FROM t WHERE id = ?", number % rows);
    bench::expect_equal(got.size(), text.size(), "the size of a text");
  } else if (what == kind::many_selects) {
    const auto many = [number](sqlite::session& on) {
      auto select = on.prepare("SELECT text FROM t WHERE id = ?");
      std::size_t size = 0;
      for (int i = 0; i != batch; ++i)
        size += select.query_one<std::string>((number + i) % rows).size();
      return size;
    };
    bench::expect_equal(co_await db.read(many), batch * text.size(), "the size of the texts");
  } else {
    const auto many = [number](sqlite::session& on) {
      auto insert = on.prepare("INSERT INTO u VALUES (?, ?)");
      for (int i = 0; i != batch; ++i) insert.execute(number + i, text);
    };
    co_await db.write(many);
  }
}

task<void> ask(const sqlite::database& db, kind what, int count, latencies& took) {
  for (int i = 0; i != count; ++i) {
    const stop_watch watch(took);
    co_await one_request(db, what, i * 7);
  }
}

task<void> ask_all(std::string path, kind what, int callers, int count, latencies& took) {
  sqlite::options options;
  options.synchronous = sqlite::sync_mode::off;
  options.readers = static_cast<std::size_t>(std::max(callers, 1));
  const sqlite::database db = co_await sqlite::database::open(path, options);
  std::vector<latencies> each(static_cast<std::size_t>(callers));
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (latencies& mine : each) scope.spawn(ask(db, what, count / callers, mine));
    co_return;
  });
  for (const latencies& mine : each) took.insert(took.end(), mine.begin(), mine.end());
  co_await db.close();
}

void plain_request(bench::plain_connection& on, kind what, int number) {
  if (what == kind::select) {
    bench::expect_equal(on.select(number % rows).size(), text.size(), "the size of a text");
    return;
  }
  on.execute(what == kind::many_selects ? "BEGIN" : "BEGIN IMMEDIATE");
  for (int i = 0; i != batch; ++i) {
    if (what == kind::many_selects) {
      (void)on.select((number + i) % rows);
    } else {
      on.insert(number + i, text);
    }
  }
  on.execute("COMMIT");
}

/// Callers are chains of callbacks in a loop; the database has a thread.
void plain_all(const std::string& path, kind what, int callers, int count, latencies& took) {
  bench::plain_connection on(path);
  bench::job_queue jobs;
  bench::job_queue loop;
  std::thread thread([&jobs] { jobs.run(); });
  int running = callers;
  std::function<void(int)> next = [&](int left) {
    if (left == 0) {
      if (--running == 0) loop.end();
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    jobs.post([&, left, start] {
      plain_request(on, what, left * 7);
      loop.post([&, left, start] {
        took.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
                .count());
        next(left - 1);
      });
    });
  };
  for (int i = 0; i != callers; ++i) next(count / callers);
  loop.run();
  jobs.end();
  thread.join();
}

enum class figure { rate, cpu, p99 };

template <class Work>
double measured(figure which, int count, int statements, const Work& work) {
  const sample_file file;
  latencies took;
  took.reserve(static_cast<std::size_t>(count));
  latencies warm_up;
  work(file.path(), count / 10, warm_up);
  const double before = cpu_us();
  const double all = static_cast<double>(count) * statements;
  const double ns = bench::nanoseconds_per(all, [&] { work(file.path(), count, took); });
  if (which == figure::cpu) return (cpu_us() - before) / all;
  if (which == figure::rate) return 1e9 / ns;
  std::sort(took.begin(), took.end());
  return took[took.size() * 99 / 100];
}

void add_cases(std::vector<bench::bench_case>& cases, const std::string& name, kind what,
               int callers, int count, const char* input) {
  const int statements = what == kind::select ? 1 : batch;
  for (const figure which : {figure::rate, figure::cpu, figure::p99}) {
    for (const bool is_tandem : {true, false}) {
      bench::bench_case made;
      made.name = name + (which == figure::cpu ? "_cpu" : which == figure::p99 ? "_p99" : "");
      made.impl = is_tandem ? "tandem" : "queue_thread";
      made.role = is_tandem ? "self" : "floor";
      made.unit = which == figure::cpu ? "us CPU" : which == figure::p99 ? "us" : "statements/s";
      made.better = which == figure::rate ? "higher" : "lower";
      made.input = input;
      made.threads = {2};
      made.sample = [=](int threads) {
        return measured(which, count, statements,
                        [=](const std::string& path, int requests, latencies& took) {
                          if (is_tandem) {
                            bench::workers run(threads);
                            run(ask_all(path, what, callers, requests, took));
                          } else {
                            plain_all(path, what, callers, requests, took);
                          }
                        });
      };
      cases.push_back(std::move(made));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<bench::bench_case> cases;
  add_cases(cases, "select_1", kind::select, 1, 20'000, "one row by its key, one caller");
  add_cases(cases, "select_4", kind::select, 4, 40'000, "one row by its key, four callers");
  add_cases(cases, "select_hop", kind::many_selects, 1, 2'000,
            "100 rows by their keys in one hop, one caller");
  add_cases(cases, "select_hop_4", kind::many_selects, 4, 4'000,
            "100 rows by their keys in one hop, four callers");
  add_cases(cases, "insert_hop", kind::many_inserts, 1, 2'000,
            "a transaction of 100 inserts in one hop");
  return bench::run_main(argc, argv, cases);
}
