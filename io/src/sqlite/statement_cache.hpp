// statement_cache.hpp: a connection's prepared statements, by their text; those used last stay.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3_stmt;

namespace tandem::inline v0::io::sqlite::detail {

/// One of them. Used by one statement at a time.
class prepared {
 public:
  prepared(std::string_view text, sqlite3_stmt* handle) : text_(text), handle_(handle) {}
  prepared(const prepared&) = delete;
  prepared& operator=(const prepared&) = delete;
  ~prepared();

  const std::string& text() const noexcept { return text_; }
  sqlite3_stmt* handle() const noexcept { return handle_; }

  bool is_lent = false;
  bool is_running = false;

 private:
  const std::string text_;
  sqlite3_stmt* const handle_;
};

/// @thread_safety  its connection's thread
class statement_cache {
 public:
  explicit statement_cache(std::size_t limit) noexcept : limit_(limit) {}

  /// @returns  null if there is none that nobody uses
  prepared* find(std::string_view text);
  /// A new one, which is lent. One whose text is there already lives as long as it is lent.
  prepared& add(std::string_view text, sqlite3_stmt* handle);
  void give_back(prepared& lent) noexcept;
  void clear() noexcept;

 private:
  using entries = std::list<prepared>;  // the one used last is first

  void shrink() noexcept;

  const std::size_t limit_;
  entries all_;
  std::unordered_map<std::string_view, entries::iterator> by_text_;
};

}  // namespace tandem::inline v0::io::sqlite::detail
