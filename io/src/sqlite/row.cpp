// row.cpp: columns, as what they are asked for, or an error that names them.
// SPDX-License-Identifier: MIT
#include <sqlite3.h>

#include <string>
#include <tandem/io/sqlite/errors.hpp>
#include <tandem/io/sqlite/row.hpp>

namespace tandem::inline v0::io::sqlite {

namespace {

sqlite3_stmt* at(void* statement) noexcept { return static_cast<sqlite3_stmt*>(statement); }

value_kind kind_of(int type) noexcept {
  switch (type) {
    case SQLITE_INTEGER: return value_kind::integer;
    case SQLITE_FLOAT: return value_kind::real;
    case SQLITE_TEXT: return value_kind::text;
    case SQLITE_BLOB: return value_kind::blob;
    default: return value_kind::null;
  }
}

std::string_view sql_of(void* statement) noexcept {
  const char* const text = sqlite3_sql(at(statement));
  return text != nullptr ? std::string_view(text) : std::string_view();
}

/// "column 1 (name)"; the first one is 0, as in get().
std::string named(void* statement, std::size_t column) {
  std::string text = "column " + std::to_string(column);
  const char* const name = sqlite3_column_name(at(statement), static_cast<int>(column));
  if (name != nullptr) text.append(" (").append(name).append(")");
  return text;
}

[[noreturn]] void wrong_kind(void* statement, std::size_t column, const char* wanted) {
  const value_kind found = kind_of(sqlite3_column_type(at(statement), static_cast<int>(column)));
  throw error(errc::wrong_type,
              named(statement, column) + " holds " + to_string(found) + ", and " + wanted +
                  " was asked for",
              sql_of(statement));
}

}  // namespace

std::size_t row::size() const noexcept {
  return static_cast<std::size_t>(sqlite3_column_count(at(statement_)));
}

std::string_view row::name(std::size_t column) const {
  (void)kind(column);
  return sqlite3_column_name(at(statement_), static_cast<int>(column));
}

value_kind row::kind(std::size_t column) const {
  if (column >= size()) {
    throw error(errc::wrong_count,
                "there is no column " + std::to_string(column) + ": the statement has " +
                    std::to_string(size()) + ", and the first one is 0",
                sql_of(statement_));
  }
  return kind_of(sqlite3_column_type(at(statement_), static_cast<int>(column)));
}

std::int64_t row::integer(std::size_t column, std::int64_t least, std::int64_t most) const {
  if (kind(column) != value_kind::integer) wrong_kind(statement_, column, "an integer");
  const std::int64_t found = sqlite3_column_int64(at(statement_), static_cast<int>(column));
  if (found < least || found > most) {
    throw error(errc::wrong_type,
                named(statement_, column) + " holds " + std::to_string(found) +
                    ", which is not between " + std::to_string(least) + " and " +
                    std::to_string(most),
                sql_of(statement_));
  }
  return found;
}

double row::real(std::size_t column) const {
  const value_kind found = kind(column);
  if (found != value_kind::real && found != value_kind::integer)
    wrong_kind(statement_, column, "a real");
  return sqlite3_column_double(at(statement_), static_cast<int>(column));
}

std::string_view row::text(std::size_t column) const {
  if (kind(column) != value_kind::text) wrong_kind(statement_, column, "text");
  const auto* const first = sqlite3_column_text(at(statement_), static_cast<int>(column));
  if (first == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(first),  // NOLINT
          static_cast<std::size_t>(sqlite3_column_bytes(at(statement_), static_cast<int>(column)))};
}

std::span<const std::byte> row::blob(std::size_t column) const {
  if (kind(column) != value_kind::blob) wrong_kind(statement_, column, "bytes");
  const void* const first = sqlite3_column_blob(at(statement_), static_cast<int>(column));
  const int size = sqlite3_column_bytes(at(statement_), static_cast<int>(column));
  if (first == nullptr && size != 0) throw std::bad_alloc();
  return {static_cast<const std::byte*>(first), static_cast<std::size_t>(size)};  // null: empty
}

value row::any(std::size_t column) const {
  switch (kind(column)) {
    case value_kind::integer:
      return value(argument(sqlite3_column_int64(at(statement_), static_cast<int>(column))));
    case value_kind::real: return value(argument(real(column)));
    case value_kind::text: return value(argument(text(column)));
    case value_kind::blob: return value(argument(blob(column)));
    case value_kind::null: break;
  }
  return {};
}

}  // namespace tandem::inline v0::io::sqlite
