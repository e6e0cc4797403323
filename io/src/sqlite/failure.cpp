// failure.cpp: SQLite's result codes, as exceptions.
// SPDX-License-Identifier: MIT
#include "sqlite/failure.hpp"

#include <sqlite3.h>

#include <new>
#include <string>
#include <system_error>
#include <tandem/errors.hpp>
#include <tandem/io/sqlite/errors.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::io::sqlite::detail {

namespace {

errc of_constraint(int extended) noexcept {
  switch (extended) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID: return errc::constraint_unique;
    case SQLITE_CONSTRAINT_NOTNULL: return errc::constraint_not_null;
    case SQLITE_CONSTRAINT_FOREIGNKEY: return errc::constraint_foreign_key;
    case SQLITE_CONSTRAINT_CHECK:
    case SQLITE_CONSTRAINT_DATATYPE: return errc::constraint_check;
    default: return errc::constraint;
  }
}

bool is_full(sqlite3* of) {
  const std::error_code told(sqlite3_system_errno(of), std::generic_category());
  return told == std::errc::no_space_on_device || told == std::errc::file_too_large;
}

errc code_for(sqlite3* of, int extended) {
  switch (extended & 0xff) {
    case SQLITE_CONSTRAINT: return of_constraint(extended);
    case SQLITE_BUSY: return errc::busy;
    case SQLITE_LOCKED: return errc::locked;
    case SQLITE_FULL: return errc::full;
    case SQLITE_CORRUPT: return errc::corrupt;
    case SQLITE_NOTADB: return errc::not_a_database;
    case SQLITE_READONLY: return errc::read_only;
    case SQLITE_IOERR:
      return is_full(of) ? errc::full : errc::io_error;  // no room for the log's index
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: return errc::cannot_open;
    case SQLITE_ERROR: return errc::bad_sql;
    case SQLITE_RANGE: return errc::wrong_count;
    case SQLITE_MISMATCH: return errc::constraint_check;  // of a rowid; others: statement::step()
    case SQLITE_TOOBIG: return errc::too_big;
    case SQLITE_MISUSE: return errc::misuse;
    default: return errc::failed;
  }
}

}  // namespace

void fail(sqlite3* of, int code, std::string_view statement) {
  const int plain = code & 0xff;
  if (plain == SQLITE_NOMEM || of == nullptr || code == SQLITE_IOERR_NOMEM) throw std::bad_alloc();
  if (plain == SQLITE_INTERRUPT || plain == SQLITE_BUSY) throw_if_stopped();
  const int told = sqlite3_extended_errcode(of);
  const int extended = (told & 0xff) == plain ? told : code;
  throw error(code_for(of, extended), sqlite3_errmsg(of), statement, extended);
}

}  // namespace tandem::inline v0::io::sqlite::detail
