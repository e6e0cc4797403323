// value.hpp: C++ values as parameters of a statement, and columns of an answer as C++ values.
// SPDX-License-Identifier: MIT
//
// Parameters go as text whose type the server infers, so that an int fits a column of any number
// type, and a std::string a date; bytes go as they are, as bytea. Columns come as text, too, but
// where bytes are asked for by query<T...>: then all columns of the answer come in binary form.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/postgres/export.hpp>
#include <type_traits>
#include <vector>

struct pg_result;

namespace tandem::inline v0::io::postgres {

/// A bytea.
using bytes = std::vector<std::byte>;

/// The parameters of one statement, $1 first: copies of what was given.
class TANDEM_IO_POSTGRES_API parameters {
 public:
  parameters() noexcept;
  parameters(parameters&&) noexcept;
  parameters& operator=(parameters&&) noexcept;
  ~parameters();

  void add_null();
  /// @throws  error (bad_parameter) if it has a zero byte, which no text of PostgreSQL's can hold
  void add_text(std::string_view text);
  void add_bytes(std::span<const std::byte> value);

  std::size_t size() const noexcept { return entries_.size(); }
  bool has_bytes() const noexcept { return has_bytes_; }

  // Implementation
  class entry {
   public:
    enum class kind : std::uint8_t { null, text, binary };
    entry(kind of, std::size_t first, std::size_t size) noexcept
        : what(of), begin(first), length(size) {}
    kind what;
    std::size_t begin;
    std::size_t length;
  };
  const std::vector<entry>& entries() const noexcept { return entries_; }
  const char* room() const noexcept { return room_.data(); }
  std::size_t bytes_held() const noexcept { return room_.size(); }

 private:
  void append(const char* first, std::size_t size);

  std::vector<char> room_;  // each text is followed by a zero
  std::vector<entry> entries_;
  bool has_bytes_ = false;
};

namespace detail {

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T>
concept number = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                 !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                 !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

template <class T>
void add_parameter(parameters& to, const T& value) {
  if constexpr (std::same_as<T, std::nullopt_t> || std::same_as<T, std::nullptr_t>) {
    to.add_null();
  } else if constexpr (is_optional<T>::value) {
    if (value) {
      add_parameter(to, *value);
    } else {
      to.add_null();
    }
  } else if constexpr (std::same_as<T, bool>) {
    to.add_text(value ? "t" : "f");
  } else if constexpr (number<T> || std::floating_point<T>) {
    char text[64];
    const auto written = std::to_chars(text, text + sizeof text, value);
    to.add_text(std::string_view(text, static_cast<std::size_t>(written.ptr - text)));
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    to.add_text(value);
  } else {
    static_assert(std::convertible_to<const T&, std::span<const std::byte>>,
                  "a parameter is a number, a bool, text, bytes (std::span<const std::byte>), "
                  "std::nullopt, or an optional of these; give anything else as text");
    to.add_bytes(value);
  }
}

template <class... Args>
parameters parameters_of(const Args&... values) {
  parameters made;
  (add_parameter(made, values), ...);
  return made;
}

/// One value of an answer: it points into that.
class cell {
 public:
  cell(const pg_result* of, int row, int column) noexcept : of_(of), row_(row), column_(column) {}
  const pg_result* of() const noexcept { return of_; }
  int row() const noexcept { return row_; }
  int column() const noexcept { return column_; }

 private:
  const pg_result* of_;
  int row_;
  int column_;
};

TANDEM_IO_POSTGRES_API bool is_null(const cell& from) noexcept;
/// These throw error: unexpected_null, wrong_type; with the column's name and type.
TANDEM_IO_POSTGRES_API std::int64_t read_signed(const cell& from, std::int64_t least,
                                                std::int64_t most);
TANDEM_IO_POSTGRES_API std::uint64_t read_unsigned(const cell& from, std::uint64_t most);
TANDEM_IO_POSTGRES_API double read_double(const cell& from);
TANDEM_IO_POSTGRES_API float read_float(const cell& from);
TANDEM_IO_POSTGRES_API bool read_bool(const cell& from);
TANDEM_IO_POSTGRES_API std::string_view read_text(const cell& from);
TANDEM_IO_POSTGRES_API bytes read_bytes(const cell& from);

template <class T>
T read(const cell& from) {
  if constexpr (is_optional<T>::value) {
    if (is_null(from)) return std::nullopt;
    return read<typename T::value_type>(from);
  } else if constexpr (std::same_as<T, bool>) {
    return read_bool(from);
  } else if constexpr (number<T> && std::signed_integral<T>) {
    return static_cast<T>(
        read_signed(from, (std::numeric_limits<T>::min)(), (std::numeric_limits<T>::max)()));
  } else if constexpr (number<T>) {
    return static_cast<T>(read_unsigned(from, (std::numeric_limits<T>::max)()));
  } else if constexpr (std::same_as<T, double>) {
    return read_double(from);
  } else if constexpr (std::same_as<T, float>) {
    return read_float(from);
  } else if constexpr (std::same_as<T, std::string_view>) {
    return read_text(from);
  } else if constexpr (std::same_as<T, std::string>) {
    return std::string(read_text(from));
  } else {
    static_assert(std::same_as<T, bytes>,
                  "a column is read as a number, a bool, std::string, std::string_view, "
                  "postgres::bytes, or a std::optional of these");
    return read_bytes(from);
  }
}

template <class T>
inline constexpr bool asks_for_bytes =
    std::same_as<T, bytes> || std::same_as<T, std::optional<bytes>>;

}  // namespace detail
}  // namespace tandem::inline v0::io::postgres
