// errors.hpp: what goes wrong with a database, as codes whose messages say what to do.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <tandem/io/sqlite/export.hpp>
#include <type_traits>

namespace tandem::inline v0::io::sqlite {

/// Of sqlite_category(). message() says what to do about it.
enum class errc {
  constraint_unique = 1,   ///< a row with this key is there already
  constraint_not_null,     ///< a column that must not be NULL was given none
  constraint_foreign_key,  ///< a row refers to one that is not there, or is referred to
  constraint_check,        ///< a CHECK of the table, or the type of a column, refuses the row
  constraint,              ///< another rule of the table, such as a trigger's RAISE
  busy,                    ///< another connection has held its lock for busy_timeout
  locked,                  ///< this connection itself reads what is to be changed
  full,                    ///< the disk, or the database's own limit of size
  corrupt,                 ///< the file is damaged
  not_a_database,          ///< the file is something else, or encrypted
  read_only,               ///< a write where only reading is possible
  io_error,                ///< the system has failed to read or write
  cannot_open,             ///< no such file, no permission, no such folder
  bad_sql,                 ///< the text of a statement cannot be understood
  wrong_count,             ///< other arguments than the statement has places, or other columns
  wrong_type,              ///< a column, or an argument, does not fit the type
  no_row,                  ///< query_one(): there is none
  too_many_rows,           ///< query_one() or query_optional(): there is more than one
  too_big,                 ///< a text, a row or a statement beyond SQLite's limits
  nested,  ///< a call waits for what waits for it: within a transaction, read() or write()
  transaction_ended,  ///< a transaction is used after its end
  closed,             ///< the database was closed, or moved from
  bad_option,         ///< an option cannot be used: what() says which, and why
  misuse,             ///< a call that is not possible here: what() says why
  failed,             ///< anything else; what() has SQLite's reason
};

TANDEM_IO_SQLITE_API const std::error_category& sqlite_category() noexcept;
TANDEM_IO_SQLITE_API std::error_code make_error_code(errc code) noexcept;

/// A failure of the database: its code is of sqlite_category(); what() has, before that, SQLite's
/// own words and the beginning of the statement.
class TANDEM_IO_SQLITE_API error : public std::system_error {
 public:
  /// @param statement  its text; the first 100 characters are kept
  error(errc code, std::string reason, std::string_view statement = {}, int extended_code = 0);
  error(const error&) = default;
  error& operator=(const error&) = default;
  ~error() override;

  /// SQLite's words ("UNIQUE constraint failed: user.name"), or tandem's own.
  const std::string& reason() const noexcept { return reason_; }
  /// The beginning of the statement's text; empty if it is about none.
  const std::string& statement() const noexcept { return statement_; }
  /// SQLite's extended result code; 0 if it is tandem that refuses.
  int extended_code() const noexcept { return extended_code_; }

 private:
  // Made by the constructor's delegate, which has shortened the statement.
  error(errc code, std::string&& reason, std::string&& shortened, int extended_code, int);

  std::string reason_;
  std::string statement_;
  int extended_code_;
};

}  // namespace tandem::inline v0::io::sqlite

template <>
struct std::is_error_code_enum<tandem::io::sqlite::errc> : std::true_type {};
