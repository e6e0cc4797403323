// statement.cpp: arguments in, steps, and rest.
// SPDX-License-Identifier: MIT
#include <sqlite3.h>

#include <string>
#include <tandem/io/sqlite/errors.hpp>
#include <tandem/io/sqlite/statement.hpp>
#include <tandem/stop.hpp>

#include "sqlite/connection.hpp"
#include "sqlite/failure.hpp"

namespace tandem::inline v0::io::sqlite {

namespace {

/// What it refers to stays until the statement rests, when its places are cleared.
int bind(sqlite3_stmt* to, int place, const argument& given) noexcept {
  switch (given.kind()) {
    case value_kind::null: return sqlite3_bind_null(to, place);
    case value_kind::integer: return sqlite3_bind_int64(to, place, given.integer());
    case value_kind::real: return sqlite3_bind_double(to, place, given.real());
    case value_kind::text: {
      const char* const text = static_cast<const char*>(given.data());
      return sqlite3_bind_text64(to, place, text != nullptr ? text : "", given.size(), nullptr,
                                 SQLITE_UTF8);
    }
    case value_kind::blob: {
      if (given.size() == 0) return sqlite3_bind_zeroblob(to, place, 0);  // null would be NULL
      return sqlite3_bind_blob64(to, place, given.data(), given.size(), nullptr);
    }
  }
  return SQLITE_OK;
}

/// "1 column", "2 columns".
std::string counted(std::size_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// "... has 2 places, and 1 argument was given", "... has 1 column, and 2 types were asked for".
[[noreturn]] void wrong_count(const std::string& has, std::size_t count, const char* one,
                              const char* verb, std::string_view text) {
  throw error(errc::wrong_count,
              "the statement has " + has + ", and " + counted(count, one) +
                  (count == 1 ? " was " : " were ") + verb,
              text);
}

}  // namespace

statement::~statement() {
  if (prepared_ != nullptr) on_->give_back(*prepared_);
}

void statement::start(std::span<const argument> args, std::size_t columns) {
  if (prepared_->is_running) {
    throw error(errc::misuse, "the statement is run while it runs; prepare() another one",
                prepared_->text());
  }
  sqlite3_stmt* const to = prepared_->handle();
  const auto places = static_cast<std::size_t>(sqlite3_bind_parameter_count(to));
  if (args.size() != places)
    wrong_count(counted(places, "place"), args.size(), "argument", "given", prepared_->text());
  const auto found = static_cast<std::size_t>(sqlite3_column_count(to));
  if (columns != any_columns && columns != found)
    wrong_count(counted(found, "column"), columns, "type", "asked for", prepared_->text());
  prepared_->is_running = true;
  for (std::size_t i = 0; i != args.size(); ++i) {
    const int code = bind(to, static_cast<int>(i + 1), args[i]);
    if (code == SQLITE_OK) continue;
    rest(true);
    detail::fail(on_->handle(), code, prepared_->text());
  }
}

bool statement::step() {
  throw_if_stopped();
  const int code = on_->step(prepared_->handle());
  if (code == SQLITE_ROW) return true;
  if ((code & 0xff) == SQLITE_MISMATCH && sqlite3_stmt_readonly(prepared_->handle()) != 0) {
    throw error(errc::wrong_type, "an argument has to be an integer, as that of LIMIT",
                prepared_->text(), code);
  }
  if (code != SQLITE_DONE) detail::fail(on_->handle(), code, prepared_->text());
  return false;
}

row statement::current() const noexcept { return row(prepared_->handle()); }

void statement::rest(bool has_failed) noexcept {
  sqlite3_stmt* const of = prepared_->handle();
  // sqlite_calls/undo: left in the midst of its rows, a change that is no part of a transaction would be committed.
  if (has_failed && sqlite3_stmt_busy(of) != 0 && sqlite3_stmt_readonly(of) == 0 &&
      !on_->is_in_transaction()) {
    sqlite3_interrupt(on_->handle());
    on_->step(of);
  }
  sqlite3_reset(of);
  sqlite3_clear_bindings(of);
  prepared_->is_running = false;
}

execute_result statement::execute_given(std::span<const argument> args) {
  sqlite3* const on = on_->handle();
  const std::int64_t before = sqlite3_total_changes64(on);
  const running run(*this, args, any_columns);
  while (step()) {}
  // SQLite keeps the count of the last statement that has changed rows.
  const bool has_changed = sqlite3_total_changes64(on) != before;
  return {has_changed ? sqlite3_changes64(on) : 0, sqlite3_last_insert_rowid(on)};
}

void statement::no_row() const { throw error(errc::no_row, "there is no row", prepared_->text()); }

void statement::too_many_rows() const {
  throw error(errc::too_many_rows, "there is more than one row", prepared_->text());
}

}  // namespace tandem::inline v0::io::sqlite
