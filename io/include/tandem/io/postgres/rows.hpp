// rows.hpp: the answer to a statement.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tandem/io/postgres/export.hpp>
#include <tandem/io/postgres/value.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::postgres {

class rows;

/// One row of an answer: it points into that.
///
/// @thread_safety  as a value; any number of threads may read an answer
class TANDEM_IO_POSTGRES_API row {
 public:
  /// @returns  the value; NULL is an empty std::optional
  /// @throws   error: no_such_column; unexpected_null; wrong_type. All name the column and its type
  template <class T>
  T get(std::size_t column) const {
    return detail::read<T>(cell_at(column));
  }
  template <class T>
  T get(std::string_view column) const {
    return detail::read<T>(cell_at(index_of(column)));
  }
  bool is_null(std::size_t column) const { return detail::is_null(cell_at(column)); }
  bool is_null(std::string_view column) const { return is_null(index_of(column)); }

  // Implementation
  row(const pg_result* of, std::size_t number) noexcept : of_(of), number_(number) {}

 private:
  detail::cell cell_at(std::size_t column) const;
  std::size_t index_of(std::string_view column) const;

  const pg_result* of_;
  std::size_t number_;
};

/// What query<T...>() makes of a row: T itself, or a tuple of several.
template <class... T>
struct typed_row {
  using type = std::tuple<T...>;
};
template <class T>
struct typed_row<T> {
  using type = T;
};
template <class... T>
using typed_row_t = typename typed_row<T...>::type;

/// All that a statement has answered.
///
///     const auto found = co_await c.query("select id, name from users where age > $1", 17);
///     for (const auto user : found) std::puts(user.get<std::string>("name").c_str());
///
/// @thread_safety  any number of threads may read it
/// @cost           it owns the answer's memory, one block that is libpq's; values are read in place
class TANDEM_IO_POSTGRES_API rows {
 public:
  /// No rows of no columns.
  rows() noexcept = default;

  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  std::size_t columns() const noexcept;
  /// pre: column < columns()
  std::string_view column_name(std::size_t column) const noexcept;
  /// The first one of that name, as it stands in the answer.
  std::optional<std::size_t> find_column(std::string_view name) const noexcept;
  /// The number that the server has for the column's type (pg_type.oid). pre: column < columns()
  std::uint32_t column_type(std::size_t column) const noexcept;

  /// How many rows were inserted, changed, removed, copied or found; 0 for other commands.
  std::uint64_t affected() const noexcept;
  /// "SELECT 3", "INSERT 0 1", "CREATE TABLE", ...
  std::string_view command() const noexcept;

  /// pre: number < size()
  row operator[](std::size_t number) const noexcept;

  class iterator {
   public:
    using value_type = row;
    using difference_type = std::ptrdiff_t;
    iterator() noexcept = default;
    iterator(const pg_result* of, std::size_t at) noexcept : of_(of), at_(at) {}
    row operator*() const noexcept { return row(of_, at_); }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    iterator operator++(int) noexcept { return iterator(of_, at_++); }
    friend bool operator==(const iterator&, const iterator&) noexcept = default;

   private:
    const pg_result* of_ = nullptr;
    std::size_t at_ = 0;
  };
  iterator begin() const noexcept { return iterator(of_.get(), 0); }
  iterator end() const noexcept { return iterator(of_.get(), size()); }

  /// All rows as values: of one T, or tuples of several, in the order of the columns.
  ///
  /// @throws  error: wrong_type if the answer has another number of columns; as row::get()
  template <class... T>
  std::vector<typed_row_t<T...>> as() const {
    check_columns(sizeof...(T));
    std::vector<typed_row_t<T...>> all;
    all.reserve(size());
    for (const row each : *this) {
      all.push_back(typed<T...>(each, std::index_sequence_for<T...>()));
    }
    return all;
  }

  // Implementation
  struct freed {
    TANDEM_IO_POSTGRES_API void operator()(pg_result* of) const noexcept;
  };
  explicit rows(pg_result* taken) noexcept : of_(taken) {}
  const pg_result* get() const noexcept { return of_.get(); }

 private:
  template <class... T, std::size_t... I>
  static typed_row_t<T...> typed(const row& from, std::index_sequence<I...>) {
    // Braces: the columns are read in order, so a failure names the first one.
    return typed_row_t<T...>{from.get<T>(I)...};
  }
  void check_columns(std::size_t wanted) const;

  std::unique_ptr<pg_result, freed> of_;
};

}  // namespace tandem::inline v0::io::postgres
