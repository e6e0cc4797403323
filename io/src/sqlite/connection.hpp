// connection.hpp: one connection of SQLite's, for one thread at a time.
// SPDX-License-Identifier: MIT
//
// Legend of what runs where: everything but interrupt() and tell() is called by whoever has the
// connection; those two by the stopper of the call that runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <tandem/io/sqlite/options.hpp>

#include "sqlite/statement_cache.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace tandem::inline v0::io::sqlite::detail {

/// What a connection for reading is told by a statement that writes: the call is run once more, on
/// the one for writing.
class needs_writer {};

class connection {
 public:
  /// Which statements are taken.
  enum class accepts : std::uint8_t { all, reads, reads_or_reroutes };

  /// @throws  error, operation_cancelled, std::bad_alloc
  connection(const std::string& path, const options& given);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  /// Rolls back what is open. Leaves the log as it is.
  ~connection();
  /// Merges the log, if this is the last connection. Only the destructor may follow.
  void close() noexcept;

  sqlite3* handle() const noexcept { return handle_; }
  /// Whether the database is none but this connection's: in memory, or temporary.
  bool is_private() const noexcept;

  /// One statement, lent until give_back(). @throws  error, needs_writer, ...
  prepared& prepare(std::string_view sql);
  void give_back(prepared& lent) noexcept { cache_.give_back(lent); }
  /// As sqlite3_step(). sqlite_calls/halted: a stop does not undo what is done.
  int step(sqlite3_stmt* of) noexcept;
  /// The text's statements, one after the other, each to its end. @throws  error, ...
  void run_script(std::string_view sql);
  void accept(accepts which) noexcept { accepts_ = which; }

  bool is_in_transaction() const noexcept;
  void begin_reading() { run(begin_reading_, "BEGIN"); }
  void begin_writing() { run(begin_writing_, "BEGIN IMMEDIATE"); }
  /// @throws  error, operation_cancelled: then it is rolled back
  void commit();
  /// No stop reaches it, and it needs no memory. Nothing if there is no transaction.
  void roll_back() noexcept;

  /// stop_watch: the task of the call that runs was stopped.
  void interrupt() noexcept;
  void tell(bool& flag) noexcept;
  void wait_until(const bool& flag) noexcept;

 private:
  void open(const std::string& path);
  void set_up();
  void choose_journal();
  /// Of the text's first statement; null if there is none. @returns  what follows it
  std::string_view compile(std::string_view sql, unsigned flags, sqlite3_stmt*& made);
  sqlite3_stmt* compile_own(const char* sql);
  void run(sqlite3_stmt* of, std::string_view text);
  static int on_busy(void* self, int count) noexcept;
  static int on_steps(void* self) noexcept;
  bool wait_for_lock(int count) noexcept;

  const options options_;
  sqlite3* handle_ = nullptr;
  statement_cache cache_;
  sqlite3_stmt* begin_reading_ = nullptr;
  sqlite3_stmt* begin_writing_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  sqlite3_stmt* roll_back_ = nullptr;
  accepts accepts_ = accepts::all;
  sqlite3_stmt* stepping_ = nullptr;  // of which SQLite asks whether to go on
  std::chrono::steady_clock::time_point busy_since_;
  std::mutex lock_;  // for told_: whoever waits for a lock of SQLite's, or for a stopper
  std::condition_variable told_;
};

}  // namespace tandem::inline v0::io::sqlite::detail
