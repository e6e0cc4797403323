// statement.hpp: a prepared statement, on the thread that has its connection.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tandem/io/sqlite/argument.hpp>
#include <tandem/io/sqlite/export.hpp>
#include <tandem/io/sqlite/row.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::sqlite {

namespace detail {
class connection;
class prepared;
}  // namespace detail

/// What a statement has changed.
class execute_result {
 public:
  execute_result() noexcept = default;
  execute_result(std::int64_t changed, std::int64_t inserted) noexcept
      : changes(changed), last_insert_id(inserted) {}

  std::int64_t changes = 0;         ///< rows inserted, updated or deleted by it, not by triggers
  std::int64_t last_insert_id = 0;  ///< rowid of what the connection has inserted last
};

/// Prepared once, run as often as one likes.
///
///     auto insert = on.prepare("INSERT INTO word VALUES (?, ?)");
///     for (const auto& [word, count] : words) insert.execute(word, count);
///
/// It must not outlive the call of database::read(), database::write() or transaction::run() whose
/// session has made it. Between its runs it reads nothing and holds no lock.
///
/// @thread_safety  the thread of the session
class TANDEM_IO_SQLITE_API statement {
 public:
  statement(statement&& other) noexcept
      : on_(other.on_), prepared_(std::exchange(other.prepared_, nullptr)) {}
  statement& operator=(statement&&) = delete;
  ~statement();

  /// Runs it to its end; rows are passed over.
  ///
  /// @param args  one for each place, in order; read while the call runs
  /// @returns     rows changed, and the id of the last one that was inserted
  /// @throws      error; operation_cancelled if the task was stopped; std::bad_alloc
  template <detail::given... Args>
  execute_result execute(const Args&... args) {
    return execute_given(std::array<argument, sizeof...(Args)>{argument(args)...});
  }

  /// All rows. @tparam T  of each column, as row::get() has them; no views
  template <class... T, detail::given... Args>
  std::vector<row_of<T...>> query(const Args&... args) {
    return query_given<T...>(std::array<argument, sizeof...(Args)>{argument(args)...});
  }
  /// The only row. @throws  error: no_row, too_many_rows
  template <class... T, detail::given... Args>
  row_of<T...> query_one(const Args&... args) {
    return one_given<T...>(std::array<argument, sizeof...(Args)>{argument(args)...});
  }
  /// The only row, if there is one. @throws  error: too_many_rows
  template <class... T, detail::given... Args>
  std::optional<row_of<T...>> query_optional(const Args&... args) {
    return optional_given<T...>(std::array<argument, sizeof...(Args)>{argument(args)...});
  }
  /// Calls `look(row)` at each row, without keeping any.
  ///
  /// @param look  returns nothing; or whether to go on
  template <std::invocable<const row&> Look, detail::given... Args>
  void for_each(Look&& look, const Args&... args) {
    each_given(std::forward<Look>(look), std::array<argument, sizeof...(Args)>{argument(args)...});
  }

  // Implementation
  statement(detail::connection& on, detail::prepared& of) noexcept : on_(&on), prepared_(&of) {}

  execute_result execute_given(std::span<const argument> args);

  template <class... T>
  std::vector<row_of<T...>> query_given(std::span<const argument> args) {
    static_assert(!(detail::is_view<T> || ...), "a view would be gone: read it in for_each()");
    std::vector<row_of<T...>> rows;
    const running run(*this, args, sizeof...(T));
    while (step()) rows.push_back(detail::row_type<T...>::read(current()));
    return rows;
  }
  template <class... T>
  std::optional<row_of<T...>> optional_given(std::span<const argument> args) {
    static_assert(!(detail::is_view<T> || ...), "a view would be gone: read it in for_each()");
    std::optional<row_of<T...>> only;
    const running run(*this, args, sizeof...(T));
    if (!step()) return only;
    only.emplace(detail::row_type<T...>::read(current()));
    if (step()) too_many_rows();
    return only;
  }
  template <class... T>
  row_of<T...> one_given(std::span<const argument> args) {
    std::optional<row_of<T...>> only = optional_given<T...>(args);
    if (!only) no_row();
    return std::move(*only);
  }
  template <class Look>
  void each_given(Look&& look, std::span<const argument> args) {
    const running run(*this, args, any_columns);
    while (step()) {
      const row at = current();
      if constexpr (std::is_void_v<std::invoke_result_t<Look&, const row&>>) {
        std::invoke(look, at);
      } else if (!std::invoke(look, at)) {
        return;
      }
    }
  }

 private:
  static constexpr std::size_t any_columns = static_cast<std::size_t>(-1);

  /// From its first step to where it is at rest again, however that comes.
  class running {
   public:
    running(statement& of, std::span<const argument> args, std::size_t columns)
        : of_(of), failures_(std::uncaught_exceptions()) {
      of.start(args, columns);
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;
    ~running() { of_.rest(std::uncaught_exceptions() != failures_); }

   private:
    statement& of_;
    const int failures_;
  };

  void start(std::span<const argument> args, std::size_t columns);
  bool step();
  row current() const noexcept;
  void rest(bool has_failed) noexcept;
  [[noreturn]] void no_row() const;
  [[noreturn]] void too_many_rows() const;

  detail::connection* on_;
  detail::prepared* prepared_;  // null: moved from
};

}  // namespace tandem::inline v0::io::sqlite
