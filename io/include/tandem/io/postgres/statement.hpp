// statement.hpp: what is asked of a server: a text, or a statement that it has prepared.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <tandem/io/postgres/export.hpp>
#include <utility>

namespace tandem::inline v0::io::postgres {

/// A statement that one connection's server has prepared: planned once, run often. It belongs to
/// its connection, whichever transaction or pipeline of that runs it, and ends with it.
///
///     const auto add = co_await c.prepare("insert into t values ($1, $2)");
///     for (int i = 0; i < 100; ++i) co_await c.query(add, i, names[i]);
class statement {
 public:
  const std::string& name() const noexcept { return name_; }
  const std::string& text() const noexcept { return text_; }

  // Implementation
  statement(std::string name, std::string text) noexcept
      : name_(std::move(name)), text_(std::move(text)) {}

 private:
  std::string name_;
  std::string text_;
};

/// What query() takes: SQL, or a prepared statement.
class command {
 public:
  template <class Text>
    requires std::convertible_to<const Text&, std::string_view>
  command(const Text& sql) : text_(std::string_view(sql)) {}      // NOLINT
  command(std::string&& sql) noexcept : text_(std::move(sql)) {}  // NOLINT
  command(const statement& prepared) : name_(prepared.name()) {}  // NOLINT

  /// Empty: prepared.
  const std::string& text() const noexcept { return text_; }
  /// Empty: not prepared.
  const std::string& name() const noexcept { return name_; }

 private:
  std::string text_;
  std::string name_;
};

}  // namespace tandem::inline v0::io::postgres
