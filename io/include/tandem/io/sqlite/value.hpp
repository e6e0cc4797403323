// value.hpp: what a column can hold, and keeps it: NULL, an integer, a real, text, bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tandem/io/sqlite/export.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tandem::inline v0::io::sqlite {

class argument;

using bytes = std::vector<std::byte>;

/// The types that SQLite itself tells apart, in the order of value::stored.
enum class value_kind : std::uint8_t { null, integer, real, text, blob };

TANDEM_IO_SQLITE_API const char* to_string(value_kind kind) noexcept;

/// Whatever a column holds, for queries that do not know its type:
///
///     for (const sqlite::value& each : co_await db.query<sqlite::value>("SELECT v FROM mixed")) {
///       if (each.kind() == sqlite::value_kind::text) use(std::get<std::string>(each.get()));
///     }
class value {
 public:
  using stored = std::variant<std::monostate, std::int64_t, double, std::string, bytes>;

  /// NULL.
  value() noexcept = default;
  /// A copy of what the argument refers to.
  TANDEM_IO_SQLITE_API explicit value(const argument& of);
  explicit value(stored of) noexcept : stored_(std::move(of)) {}

  value_kind kind() const noexcept { return static_cast<value_kind>(stored_.index()); }
  bool is_null() const noexcept { return stored_.index() == 0; }
  const stored& get() const noexcept { return stored_; }
  friend bool operator==(const value&, const value&) = default;

 private:
  stored stored_;
};

}  // namespace tandem::inline v0::io::sqlite
