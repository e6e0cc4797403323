// row.hpp: one row of an answer, while its statement stands there.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/sqlite/argument.hpp>
#include <tandem/io/sqlite/export.hpp>
#include <tandem/io/sqlite/value.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::sqlite {

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

}  // namespace detail

/// The row at which a statement stands, for statement::for_each().
///
///     names.for_each([&](const sqlite::row& at) { print(at.get<std::string_view>(0)); });
///
/// @thread_safety  the thread of the statement; gone with the call that it was given to
class TANDEM_IO_SQLITE_API row {
 public:
  std::size_t size() const noexcept;
  std::string_view name(std::size_t column) const;
  value_kind kind(std::size_t column) const;

  /// What a column holds.
  ///
  /// @tparam T       bool, an integer, float, double, std::string, bytes, value; std::optional of
  ///                 one of them where NULL may be; std::string_view and std::span<const std::byte>,
  ///                 which are gone with the row
  /// @param column   the first one is 0
  /// @throws         error: wrong_type, which names the column: NULL for what is no optional, text
  ///                 for a number or the reverse, a number that T cannot hold; wrong_count if there
  ///                 is no such column
  template <class T>
  T get(std::size_t column) const {
    if constexpr (detail::is_optional<T>) {
      if (kind(column) == value_kind::null) return std::nullopt;
      return get<typename T::value_type>(column);
    } else if constexpr (std::same_as<T, bool>) {
      return integer(column, 0, 1) != 0;
    } else if constexpr (std::same_as<T, std::uint64_t> || std::same_as<T, unsigned long long>) {
      return static_cast<T>(integer(column, 0, most_of<std::int64_t>));
    } else if constexpr (detail::integer<T>) {
      return static_cast<T>(integer(column, least_of<T>, most_of<T>));
    } else if constexpr (std::floating_point<T>) {
      return static_cast<T>(real(column));
    } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
      return T(text(column));
    } else if constexpr (std::same_as<T, std::span<const std::byte>>) {
      return blob(column);
    } else if constexpr (std::same_as<T, bytes>) {
      const std::span<const std::byte> found = blob(column);
      return bytes(found.begin(), found.end());
    } else {
      static_assert(std::same_as<T, value>,
                    "a column is read as bool, an integer, double, std::string, sqlite::bytes, "
                    "sqlite::value, or a std::optional of them");
      return any(column);
    }
  }

  // Implementation
  explicit row(void* statement) noexcept : statement_(statement) {}

 private:
  template <class T>
  static constexpr std::int64_t least_of = (std::numeric_limits<T>::min)();
  template <class T>
  static constexpr std::int64_t most_of = (std::numeric_limits<T>::max)();

  std::int64_t integer(std::size_t column, std::int64_t least, std::int64_t most) const;
  double real(std::size_t column) const;
  std::string_view text(std::size_t column) const;
  std::span<const std::byte> blob(std::size_t column) const;
  value any(std::size_t column) const;

  void* statement_;
};

namespace detail {

template <class... T>
struct row_type {
  static_assert(sizeof...(T) > 0,
                "query<T...> is told the types of the columns: query<int, std::string>");
  using type = std::tuple<T...>;
  template <std::size_t... Column>
  static type read(const row& at, std::index_sequence<Column...>) {
    return type{at.get<T>(Column)...};  // in this order
  }
  static type read(const row& at) { return read(at, std::index_sequence_for<T...>()); }
};
template <class T>
struct row_type<T> {
  using type = T;
  static T read(const row& at) { return at.get<T>(0); }
};

template <class T>
inline constexpr bool is_view = false;
template <>
inline constexpr bool is_view<std::string_view> = true;
template <>
inline constexpr bool is_view<std::span<const std::byte>> = true;
template <class T>
inline constexpr bool is_view<std::optional<T>> = is_view<T>;

}  // namespace detail

/// A row of query<T...>(): a tuple, or of one column that alone.
template <class... T>
using row_of = typename detail::row_type<T...>::type;

}  // namespace tandem::inline v0::io::sqlite
