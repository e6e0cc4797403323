// errors.cpp: the texts of errors, each with what to do.
// SPDX-License-Identifier: MIT
#include <tandem/io/sqlite/errors.hpp>
#include <utility>

namespace tandem::inline v0::io::sqlite {

namespace {

const char* advice(errc code) noexcept {
  switch (code) {
    case errc::constraint_unique:
      return "a row with this key is there already; use ON CONFLICT to say what is to become of it";
    case errc::constraint_not_null: return "a column that must not be NULL was given no value";
    case errc::constraint_foreign_key:
      return "a row refers to one that is not there, or is still referred to; write the rows in "
             "the order of their references, or declare them DEFERRABLE";
    case errc::constraint_check: return "the table does not accept such a row";
    case errc::constraint: return "a rule of the table refuses this change";
    case errc::busy:
      return "another connection has held its lock for longer than options::busy_timeout; find out "
             "who keeps a transaction open, or raise the time";
    case errc::locked:
      return "this connection is still reading what is to be changed; end that loop first";
    case errc::full: return "there is no room left; free some, nothing of this change was kept";
    case errc::corrupt:
      return "the file is damaged; restore a copy, or save what is left by `sqlite3 FILE .recover`";
    case errc::not_a_database:
      return "the file is no SQLite database, or is encrypted; check its path";
    case errc::read_only:
      return "only reading is possible here; write by write(), execute() or a transaction, or "
             "check "
             "options::read_only and the file's permissions";
    case errc::io_error: return "the system could not read or write the file; check the disk";
    case errc::cannot_open:
      return "the file cannot be opened; check that its folder exists and that it may be written, "
             "and options::create";
    case errc::bad_sql: return "the statement cannot be understood; check its text, and the names";
    case errc::wrong_count:
      return "give one argument for each place of the statement, and one type for each column";
    case errc::wrong_type:
      return "ask for the type that is stored, for std::optional where NULL may be, or for "
             "sqlite::value; give a place what it can take";
    case errc::no_row: return "there is no such row; query_optional() takes that for an answer";
    case errc::too_many_rows: return "there is more than one row; add a LIMIT, or use query()";
    case errc::too_big: return "a text, a row or a statement is beyond SQLite's limits";
    case errc::nested:
      return "this task, or one that waits for it, holds a connection in with_transaction(), "
             "write(), read() or run(), and each would wait for the other: use the transaction, or "
             "the session, that is there; or start what nobody waits for by spawn(no_flow, ...)";
    case errc::transaction_ended:
      return "the transaction is over, and nothing of it was kept unless it was committed before";
    case errc::closed: return "use it before close(), or open it again";
    case errc::bad_option: return "an option cannot be used";
    case errc::misuse: return "this is not possible here";
    case errc::failed: return "SQLite has failed";
  }
  return "unknown error of SQLite";
}

class sqlite_errors final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tandem.sqlite"; }
  std::string message(int code) const override { return advice(static_cast<errc>(code)); }
};

/// The beginning of a statement's text, in one line.
std::string shortened_text(std::string_view statement) {
  constexpr std::size_t most = 100;
  std::string text;
  for (const char each : statement) {
    const bool is_blank = each == ' ' || each == '\n' || each == '\r' || each == '\t';
    if (is_blank && (text.empty() || text.back() == ' ')) continue;
    if (text.size() == most) {
      // Not in the middle of a character, whose later bytes begin with the bits 10.
      const auto goes_on = [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
      };
      for (bool is_inside = goes_on(each); is_inside && !text.empty(); text.pop_back()) {
        is_inside = goes_on(text.back());
      }
      return text + "...";
    }
    text.push_back(is_blank ? ' ' : each);
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string told(const std::string& reason, const std::string& statement) {
  return statement.empty() ? reason : reason + " in `" + statement + "`";
}

}  // namespace

const std::error_category& sqlite_category() noexcept {
  static const sqlite_errors only;
  return only;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), sqlite_category()};
}

error::error(errc code, std::string reason, std::string_view statement, int extended_code)
    : error(code, std::move(reason), shortened_text(statement), extended_code, 0) {}

error::error(errc code, std::string&& reason, std::string&& shortened, int extended_code, int)
    : std::system_error(make_error_code(code), told(reason, shortened)),
      reason_(std::move(reason)),
      statement_(std::move(shortened)),
      extended_code_(extended_code) {}

error::~error() = default;

}  // namespace tandem::inline v0::io::sqlite
