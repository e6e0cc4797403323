// rows.cpp: reads a PGresult.
// SPDX-License-Identifier: MIT
#include <libpq-fe.h>

#include <charconv>
#include <cstring>
#include <string>
#include <tandem/config.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/postgres/rows.hpp>

namespace tandem::inline v0::io::postgres {

void rows::freed::operator()(pg_result* of) const noexcept { PQclear(of); }

std::size_t rows::size() const noexcept { return static_cast<std::size_t>(PQntuples(of_.get())); }
std::size_t rows::columns() const noexcept {
  return static_cast<std::size_t>(PQnfields(of_.get()));
}

std::string_view rows::column_name(std::size_t column) const noexcept {
  TANDEM_ASSERT(column < columns(), "column_name() of a column that is not there");
  return PQfname(of_.get(), static_cast<int>(column));
}

std::optional<std::size_t> rows::find_column(std::string_view name) const noexcept {
  // Not by PQfnumber(), which reads the name as SQL does: in small letters unless it is quoted.
  for (std::size_t i = 0; i < columns(); ++i) {
    if (column_name(i) == name) return i;
  }
  return std::nullopt;
}

std::uint32_t rows::column_type(std::size_t column) const noexcept {
  TANDEM_ASSERT(column < columns(), "column_type() of a column that is not there");
  return PQftype(of_.get(), static_cast<int>(column));
}

std::uint64_t rows::affected() const noexcept {
  if (of_ == nullptr) return 0;
  const std::string_view text = PQcmdTuples(const_cast<PGresult*>(of_.get()));  // NOLINT
  std::uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

std::string_view rows::command() const noexcept {
  if (of_ == nullptr) return {};
  return PQcmdStatus(const_cast<PGresult*>(of_.get()));  // NOLINT
}

row rows::operator[](std::size_t number) const noexcept {
  TANDEM_ASSERT(number < size(), "rows[] of a row that is not there");
  return row(of_.get(), number);
}

void rows::check_columns(std::size_t wanted) const {
  if (columns() == wanted) return;
  throw error(errc::wrong_type, "postgres: the answer has " + std::to_string(columns()) +
                                    (columns() == 1 ? " column, and " : " columns, and ") +
                                    std::to_string(wanted) +
                                    (wanted == 1 ? " type was given" : " types were given"));
}

detail::cell row::cell_at(std::size_t column) const {
  const int columns = PQnfields(of_);
  if (column >= static_cast<std::size_t>(columns)) {
    throw error(errc::no_such_column, "postgres: column " + std::to_string(column) +
                                          " of an answer of " + std::to_string(columns));
  }
  return detail::cell(of_, static_cast<int>(number_), static_cast<int>(column));
}

std::size_t row::index_of(std::string_view column) const {
  const int columns = PQnfields(of_);
  for (int i = 0; i < columns; ++i) {
    if (column == PQfname(of_, i)) return static_cast<std::size_t>(i);
  }
  std::string text = "postgres: column \"" + std::string(column) + "\"; there are";
  for (int i = 0; i < columns; ++i)
    text += std::string(i == 0 ? " \"" : ", \"") + PQfname(of_, i) + "\"";
  throw error(errc::no_such_column, text);
}

}  // namespace tandem::inline v0::io::postgres
