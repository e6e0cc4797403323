// queue_thread.hpp: the floor of suite sqlite: a loop of callbacks, and a thread with a queue that has the connection.
// SPDX-License-Identifier: MIT
#pragma once

#include <sqlite3.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace tandem::bench {

/// Jobs in order, each on the thread that runs them.
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
      if (jobs_.empty()) {
        ended_ = false;
        return;
      }
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

class plain_connection {
 public:
  explicit plain_connection(const std::string& path) {
    if (sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) !=
        SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(db_));
    }
    execute("PRAGMA synchronous=OFF");
    select_ = prepare("SELECT text FROM t WHERE id = ?");
    insert_ = prepare("INSERT INTO u VALUES (?, ?)");
  }
  plain_connection(const plain_connection&) = delete;
  plain_connection& operator=(const plain_connection&) = delete;
  ~plain_connection() {
    sqlite3_finalize(select_);
    sqlite3_finalize(insert_);
    sqlite3_close(db_);
  }

  void execute(const char* sql) {
    check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  }
  std::string select(int id) {
    sqlite3_bind_int(select_, 1, id);
    check(sqlite3_step(select_), SQLITE_ROW);
    std::string text(reinterpret_cast<const char*>(sqlite3_column_text(select_, 0)),
                     static_cast<std::size_t>(sqlite3_column_bytes(select_, 0)));
    sqlite3_reset(select_);
    return text;
  }
  void insert(int id, const std::string& text) {
    sqlite3_bind_int(insert_, 1, id);
    sqlite3_bind_text(insert_, 2, text.data(), static_cast<int>(text.size()), nullptr);
    check(sqlite3_step(insert_), SQLITE_DONE);
    sqlite3_reset(insert_);
  }

 private:
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* made = nullptr;
    check(sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr), SQLITE_OK);
    return made;
  }
  void check(int code, int expected) const {
    if (code != expected) throw std::runtime_error(sqlite3_errmsg(db_));
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* select_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

}  // namespace tandem::bench
