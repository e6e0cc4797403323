// connection.cpp: opening, statements, transactions, and waiting for locks of others.
// SPDX-License-Identifier: MIT
#include "sqlite/connection.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <tandem/errors.hpp>
#include <tandem/io/sqlite/errors.hpp>
#include <tandem/stop.hpp>

#include "sqlite/failure.hpp"

namespace tandem::inline v0::io::sqlite::detail {

namespace {

const char* pragma_of(sync_mode mode) noexcept {
  switch (mode) {
    case sync_mode::off: return "PRAGMA synchronous=OFF";
    case sync_mode::normal: return "PRAGMA synchronous=NORMAL";
    case sync_mode::full: return "PRAGMA synchronous=FULL";
    case sync_mode::extra: return "PRAGMA synchronous=EXTRA";
  }
  return "PRAGMA synchronous=FULL";
}

bool is_blank(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n\f;") == std::string_view::npos;
}

}  // namespace

connection::connection(const std::string& path, const options& given)
    : options_(given), cache_(given.cached_statements) {
  try {
    open(path);
    set_up();
  } catch (...) {
    close();
    throw;
  }
}

connection::~connection() {
  roll_back();
  if (handle_ != nullptr) {
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  close();
}

void connection::open(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    throw error(errc::bad_option, "the path of a database has a zero byte in it");
  }
  // One thread at a time: SQLite itself need not lock.
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE;
  if (options_.read_only) {
    flags |= SQLITE_OPEN_READONLY;
  } else {
    flags |= SQLITE_OPEN_READWRITE | (options_.create ? SQLITE_OPEN_CREATE : 0);
  }
  const int code = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);
  if (code == SQLITE_OK) return;
  if (handle_ == nullptr || (code & 0xff) == SQLITE_NOMEM) throw std::bad_alloc();
  throw error(errc::cannot_open, std::string(sqlite3_errmsg(handle_)) + ": " + path, {}, code);
}

void connection::set_up() {
  sqlite3_busy_handler(handle_, &connection::on_busy, this);
  sqlite3_progress_handler(handle_, options_.steps_between_looks, &connection::on_steps, this);
  sqlite3_extended_result_codes(handle_, 1);
  // Whether it is a database at all shows at the first look into the file.
  run_script("PRAGMA schema_version");
  if (!options_.read_only) choose_journal();
  run_script(pragma_of(options_.synchronous));
  run_script(options_.foreign_keys ? "PRAGMA foreign_keys=ON" : "PRAGMA foreign_keys=OFF");
  run_script(options_.each_connection);
  begin_reading_ = compile_own("BEGIN");
  begin_writing_ = compile_own("BEGIN IMMEDIATE");
  commit_ = compile_own("COMMIT");
  roll_back_ = compile_own("ROLLBACK");
}

void connection::choose_journal() {
  if (options_.journal == journal_mode::unchanged || is_private()) return;
  const bool is_wal = options_.journal == journal_mode::wal;
  const std::string_view sql = is_wal ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE";
  prepared& asked = prepare(sql);
  const int code = step(asked.handle());
  const bool is_as_asked =
      code == SQLITE_ROW &&
      std::string_view(reinterpret_cast<const char*>(  // NOLINT
          sqlite3_column_text(asked.handle(), 0))) == (is_wal ? "wal" : "delete");
  sqlite3_reset(asked.handle());
  give_back(asked);
  if (code != SQLITE_ROW) fail(handle_, code, sql);
  if (!is_as_asked) {
    throw error(errc::bad_option,
                is_wal
                    ? "there is no log (WAL) in this place, where memory cannot be shared; "
                      "open with journal_mode::rollback"
                    : "the journal of this database cannot be changed to journal_mode::rollback");
  }
}

bool connection::is_private() const noexcept {
  const char* const file = sqlite3_db_filename(handle_, "main");
  return file == nullptr || *file == '\0';
}

std::string_view connection::compile(std::string_view sql, unsigned flags, sqlite3_stmt*& made) {
  throw_if_stopped();
  if (sql.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw error(errc::too_big, "the text of the statement is too long", sql);
  }
  const char* rest = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), flags, &made, &rest);
  if (code != SQLITE_OK) fail(handle_, code, sql);
  return rest == nullptr ? std::string_view()
                         : sql.substr(static_cast<std::size_t>(rest - sql.data()));
}

prepared& connection::prepare(std::string_view sql) {
  prepared* found = cache_.find(sql);
  if (found == nullptr) {
    sqlite3_stmt* made = nullptr;
    const std::string_view rest = compile(sql, SQLITE_PREPARE_PERSISTENT, made);
    if (made == nullptr) throw error(errc::bad_sql, "there is no statement", sql);
    if (!is_blank(rest)) {
      // A comment is no statement; only the compiler knows.
      sqlite3_stmt* second = nullptr;
      const int code = sqlite3_prepare_v3(handle_, rest.data(), static_cast<int>(rest.size()), 0,
                                          &second, nullptr);
      sqlite3_finalize(second);
      if (code != SQLITE_OK || second != nullptr) {
        sqlite3_finalize(made);
        throw error(errc::misuse,
                    "there is more than one statement; session::execute_script() takes those", sql);
      }
    }
    found = &cache_.add(sql, made);
  }
  if (accepts_ != accepts::all && sqlite3_stmt_readonly(found->handle()) == 0) {
    give_back(*found);
    if (accepts_ == accepts::reads_or_reroutes) throw needs_writer();
    throw error(errc::read_only, "a statement that writes, in read()", sql);
  }
  return *found;
}

void connection::run_script(std::string_view sql) {
  while (!sql.empty()) {
    sqlite3_stmt* made = nullptr;
    const std::string_view rest = compile(sql, 0, made);
    const std::string_view text = sql.substr(0, sql.size() - rest.size());
    if (made != nullptr) {
      int code = SQLITE_ROW;
      const bool is_refused = accepts_ != accepts::all && sqlite3_stmt_readonly(made) == 0;
      while (!is_refused && code == SQLITE_ROW) code = step(made);
      sqlite3_finalize(made);  // the connection keeps the words of its failure
      if (is_refused) throw error(errc::read_only, "a statement that writes, in read()", text);
      if (code != SQLITE_DONE) fail(handle_, code, text);
    }
    sql = rest;
  }
}

sqlite3_stmt* connection::compile_own(const char* sql) {
  sqlite3_stmt* made = nullptr;
  (void)compile(sql, SQLITE_PREPARE_PERSISTENT, made);
  return made;
}

void connection::run(sqlite3_stmt* of, std::string_view text) {
  throw_if_stopped();
  const int code = step(of);
  sqlite3_reset(of);
  if (code != SQLITE_DONE) fail(handle_, code, text);
}

bool connection::is_in_transaction() const noexcept {
  return handle_ != nullptr && sqlite3_get_autocommit(handle_) == 0;
}

void connection::commit() {
  if (!is_in_transaction()) {
    throw error(
        errc::transaction_ended,
        "the transaction has ended before: by a statement of its own, or SQLite had to undo it");
  }
  try {
    run(commit_, "COMMIT");
  } catch (...) {
    roll_back();
    throw;
  }
}

void connection::roll_back() noexcept {
  // An interrupt that was meant for the call may end the first try; there is one only.
  for (int tries = 0; tries != 3 && is_in_transaction(); ++tries) {
    if (roll_back_ == nullptr) {
      sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
      continue;
    }
    step(roll_back_);
    sqlite3_reset(roll_back_);
  }
}

void connection::close() noexcept {
  cache_.clear();
  for (sqlite3_stmt** const each : {&begin_reading_, &begin_writing_, &commit_, &roll_back_}) {
    sqlite3_finalize(*each);
    *each = nullptr;
  }
  sqlite3_close_v2(handle_);
  handle_ = nullptr;
}

void connection::interrupt() noexcept {
  sqlite3_interrupt(handle_);
  const std::lock_guard hold(
      lock_);  // whoever waits for a lock has either seen the stop, or is told
  told_.notify_all();
}

void connection::tell(bool& flag) noexcept {
  const std::lock_guard hold(lock_);
  flag = true;
  told_.notify_all();
}

void connection::wait_until(const bool& flag) noexcept {
  std::unique_lock hold(lock_);
  told_.wait(hold, [&flag] { return flag; });
}

int connection::on_busy(void* self, int count) noexcept {
  return static_cast<connection*>(self)->wait_for_lock(count) ? 1 : 0;
}

int connection::step(sqlite3_stmt* of) noexcept {
  stepping_ = of;
  const int code = sqlite3_step(of);
  stepping_ = nullptr;
  return code;
}

/// Within a statement, on the thread of its task. SQLite asks once more when the statement has ended, and would
/// then say "interrupted" of what is committed.
int connection::on_steps(void* self) noexcept {
  sqlite3_stmt* const of = static_cast<connection*>(self)->stepping_;
  const bool is_over = of != nullptr && sqlite3_stmt_busy(of) == 0;
  return stop_requested() && !is_over ? 1 : 0;
}

bool connection::wait_for_lock(int count) noexcept {
  using std::chrono::milliseconds;
  constexpr std::array<int, 10> pauses{1, 2, 5, 10, 15, 20, 25, 25, 50, 50};
  const auto now = std::chrono::steady_clock::now();
  if (count == 0) busy_since_ = now;
  const auto left = busy_since_ + options_.busy_timeout - now;
  if (left <= left.zero()) return false;
  const milliseconds pause(
      count < static_cast<int>(pauses.size()) ? pauses[static_cast<std::size_t>(count)] : 100);
  std::unique_lock hold(lock_);
  return !told_.wait_for(hold, std::min<std::chrono::steady_clock::duration>(pause, left),
                         [] { return stop_requested(); });
}

}  // namespace tandem::inline v0::io::sqlite::detail
