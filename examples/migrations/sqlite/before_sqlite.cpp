// before_sqlite.cpp: clients that transfer money, by SQLite's C interface: a thread for the database, callbacks in a loop.
// SPDX-License-Identifier: MIT
#include <sqlite3.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bank.hpp"

namespace {

/// Jobs in order, each on the one thread that runs them.
class job_queue {
 public:
  void post(std::function<void()> job) {
    const std::lock_guard hold(lock_);
    jobs_.push_back(std::move(job));
    changed_.notify_one();
  }
  void end() {
    const std::lock_guard hold(lock_);
    ended_ = true;
    changed_.notify_one();
  }
  void run() {
    std::unique_lock hold(lock_);
    while (true) {
      changed_.wait(hold, [this] { return ended_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      hold.unlock();
      job();
      hold.lock();
    }
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ended_ = false;
};

/// A connection and its statements, on a thread of their own.
class database {
 public:
  explicit database(const std::string& file) {
    if (sqlite3_open(file.c_str(), &db_) != SQLITE_OK) fail();
    sqlite3_busy_timeout(db_, 5000);
    execute("PRAGMA journal_mode=WAL");
    execute("PRAGMA synchronous=NORMAL");
    execute(bank::schema);
    deposit_ = prepare(bank::deposit);
    take_ = prepare(bank::take);
    give_ = prepare(bank::give);
    balance_ = prepare(bank::balance);
    all_ = prepare(bank::all);
    thread_ = std::thread([this] { jobs.run(); });
  }
  ~database() {
    jobs.end();
    thread_.join();
    for (sqlite3_stmt* const each : {deposit_, take_, give_, balance_, all_}) {
      sqlite3_finalize(each);
    }
    sqlite3_close(db_);
  }
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  void deposit(int id) {
    sqlite3_bind_int(deposit_, 1, id);
    step_and_reset(deposit_);
  }

  bool transfer(const bank::transfer& what) {
    execute("BEGIN IMMEDIATE");
    try {
      change(take_, what.from, what.cents);
      change(give_, what.to, what.cents);
      execute("COMMIT");
      return true;
    } catch (...) {
      const bool was_refused = sqlite3_errcode(db_) == SQLITE_CONSTRAINT;
      if (sqlite3_get_autocommit(db_) == 0) execute("ROLLBACK");
      if (!was_refused) throw;
      return false;
    }
  }

  long long balance(int id) {
    sqlite3_bind_int(balance_, 1, id);
    const int code = sqlite3_step(balance_);
    const long long cents = code == SQLITE_ROW ? sqlite3_column_int64(balance_, 0) : -1;
    sqlite3_reset(balance_);
    if (code != SQLITE_ROW) fail();
    return cents;
  }

  std::vector<std::pair<long long, long long>> all() {
    std::vector<std::pair<long long, long long>> rows;
    int code = 0;
    while ((code = sqlite3_step(all_)) == SQLITE_ROW) {
      rows.emplace_back(sqlite3_column_int64(all_, 0), sqlite3_column_int64(all_, 1));
    }
    sqlite3_reset(all_);
    if (code != SQLITE_DONE) fail();
    return rows;
  }

  job_queue jobs;

 private:
  [[noreturn]] void fail() { throw std::runtime_error(sqlite3_errmsg(db_)); }
  void execute(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(db_, sql, -1, &made, nullptr) != SQLITE_OK) fail();
    return made;
  }
  void change(sqlite3_stmt* of, int id, int cents) {
    sqlite3_bind_int(of, 1, cents);
    sqlite3_bind_int(of, 2, id);
    step_and_reset(of);
  }
  void step_and_reset(sqlite3_stmt* of) {
    const int code = sqlite3_step(of);
    sqlite3_reset(of);
    if (code != SQLITE_DONE) fail();
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* deposit_ = nullptr;
  sqlite3_stmt* take_ = nullptr;
  sqlite3_stmt* give_ = nullptr;
  sqlite3_stmt* balance_ = nullptr;
  sqlite3_stmt* all_ = nullptr;
  std::thread thread_;
};

/// What the callbacks of all clients share; all of it is of the loop's thread.
struct totals {
  int done = 0;
  int refused = 0;
  int wrong = 0;
  int running = 0;
  std::string failure;
};

/// One client: where it stands is in its members, between two callbacks.
class client {
 public:
  client(int id, const bank::settings& given, database& db, job_queue& loop, totals& all)
      : id_(id), given_(given), db_(db), loop_(loop), all_(all) {}

  void start() {
    ++all_.running;
    next();
  }

 private:
  void next() {
    if (number_ == given_.transfers || !all_.failure.empty()) {
      if (--all_.running == 0) loop_.end();
      return;
    }
    const bank::transfer what(id_, number_++, given_.clients);
    ask([this, what] { return db_.transfer(what) ? 1 : 0; },
        [this](long long done) { transferred(done != 0); });
  }
  void transferred(bool done) {
    ++(done ? all_.done : all_.refused);
    ask([this] { return db_.balance(id_); }, [this](long long cents) { looked(cents); });
  }
  void looked(long long cents) {
    all_.wrong += cents < 0 ? 1 : 0;
    next();
  }

  /// A job over there, and its answer here. No exception may leave the thread.
  void ask(std::function<long long()> job, std::function<void(long long)> answer) {
    db_.jobs.post([this, job = std::move(job), answer = std::move(answer)] {
      long long got = 0;
      std::string failure;
      try {
        got = job();
      } catch (const std::exception& why) {
        failure = why.what();
      }
      loop_.post([this, got, failure, answer] {
        if (!failure.empty()) {
          all_.failure = failure;
          next();
          return;
        }
        answer(got);
      });
    });
  }

  const int id_;
  const bank::settings& given_;
  database& db_;
  job_queue& loop_;
  totals& all_;
  int number_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const bank::settings given(argc, argv);
  try {
    database db(given.file);
    for (int id = 0; id != given.clients; ++id) db.deposit(id);
    job_queue loop;
    totals all;
    std::deque<client> clients;
    for (int id = 0; id != given.clients; ++id) clients.emplace_back(id, given, db, loop, all);
    for (client& each : clients) each.start();
    loop.run();
    if (!all.failure.empty()) throw std::runtime_error(all.failure);
    for (const auto& [id, cents] : db.all()) bank::report(id, cents);
    bank::report_end(all.done, all.refused, all.wrong);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
  }
  return 0;
}
