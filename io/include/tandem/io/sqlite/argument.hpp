// argument.hpp: what is given for a place (`?`) of a statement.
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
#include <tandem/io/sqlite/export.hpp>
#include <tandem/io/sqlite/value.hpp>
#include <type_traits>
#include <variant>
#include <vector>

namespace tandem::inline v0::io::sqlite {

namespace detail {

template <class T>
inline constexpr bool is_character =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> ||
    std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;

/// bool is an integer to SQLite, a character is none.
template <class T>
concept integer = std::integral<T> && !is_character<std::remove_cv_t<T>>;

[[noreturn]] TANDEM_IO_SQLITE_API void too_large(std::uint64_t number);

}  // namespace detail

/// A view of an integer, a real, text, bytes or nothing. Calls that are awaited copy what it refers
/// to; those of a session look at it while they run.
///
///     co_await db.execute("INSERT INTO t VALUES (?, ?, ?)", 1, "one", std::optional<double>());
class argument {
 public:
  argument(std::nullptr_t) noexcept {}  // NOLINT
  argument(std::nullopt_t) noexcept {}  // NOLINT
  /// @throws  error (wrong_type) beyond what SQLite can hold, 2^63 - 1
  template <detail::integer T>
  argument(T number)
      : kind_(value_kind::integer), integer_(static_cast<std::int64_t>(number)) {  // NOLINT
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::int64_t)) {
      constexpr T most = (std::numeric_limits<std::int64_t>::max)();
      if (number > most) detail::too_large(number);
    }
  }
  template <std::floating_point T>
  argument(T number) noexcept
      : kind_(value_kind::real), real_(static_cast<double>(number)) {}  // NOLINT
  argument(std::string_view text) noexcept                              // NOLINT
      : kind_(value_kind::text), data_(text.data()), size_(text.size()) {}
  argument(const std::string& text) noexcept : argument(std::string_view(text)) {}  // NOLINT
  argument(const char* text) noexcept : argument(std::string_view(text)) {}         // NOLINT
  argument(std::span<const std::byte> of) noexcept                                  // NOLINT
      : kind_(value_kind::blob), data_(of.data()), size_(of.size()) {}
  argument(const bytes& of) noexcept : argument(std::span<const std::byte>(of)) {}  // NOLINT
  template <class T>
    requires std::constructible_from<argument, const T&>
  argument(const std::optional<T>& of) {  // NOLINT
    if (of) *this = argument(*of);
  }
  argument(const value& of) noexcept {  // NOLINT
    if (of.kind() == value_kind::integer) *this = argument(std::get<std::int64_t>(of.get()));
    if (of.kind() == value_kind::real) *this = argument(std::get<double>(of.get()));
    if (of.kind() == value_kind::text) *this = argument(std::get<std::string>(of.get()));
    if (of.kind() == value_kind::blob) *this = argument(std::get<bytes>(of.get()));
  }

  value_kind kind() const noexcept { return kind_; }
  /// Each for its kind.
  std::int64_t integer() const noexcept { return integer_; }
  double real() const noexcept { return real_; }
  const void* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  value_kind kind_ = value_kind::null;
  union {
    std::int64_t integer_ = 0;
    double real_;
    const void* data_;
  };
  std::size_t size_ = 0;
};

namespace detail {

template <class T>
concept given = std::constructible_from<argument, const T&>;

/// Copies, for a call that runs later.
template <class... Args>
std::vector<value> owned(const Args&... args) {
  std::vector<value> made;
  made.reserve(sizeof...(Args));
  (made.emplace_back(argument(args)), ...);
  return made;
}

}  // namespace detail
}  // namespace tandem::inline v0::io::sqlite
