// session.hpp: a connection for one call: many statements on its thread, without a hop between them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tandem/io/sqlite/export.hpp>
#include <tandem/io/sqlite/statement.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io::sqlite {

/// What database::read(), database::write() and transaction::run() hand to their function, which
/// runs where it may wait.
///
///     auto total = co_await db.write([&](sqlite::session& on) {
///       auto insert = on.prepare("INSERT INTO sale VALUES (?, ?)");
///       for (const sale& each : sales) insert.execute(each.day, each.amount);
///       return on.query_one<double>("SELECT sum(amount) FROM sale");
///     });
///
/// Statements are kept prepared by their text (options::cached_statements). A stop of the task ends
/// the one that runs, or the next one, by operation_cancelled.
///
/// @thread_safety  the thread of the call, for its duration
class TANDEM_IO_SQLITE_API session {
 public:
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// @param sql  one statement
  /// @throws     error (bad_sql, busy, ...), operation_cancelled, std::bad_alloc
  statement prepare(std::string_view sql);

  /// As of statement, prepared for this call.
  template <class... Args>
  execute_result execute(std::string_view sql, const Args&... args) {
    return prepare(sql).execute(args...);
  }
  template <class... T, class... Args>
  std::vector<row_of<T...>> query(std::string_view sql, const Args&... args) {
    return prepare(sql).template query<T...>(args...);
  }
  template <class... T, class... Args>
  row_of<T...> query_one(std::string_view sql, const Args&... args) {
    return prepare(sql).template query_one<T...>(args...);
  }
  template <class... T, class... Args>
  std::optional<row_of<T...>> query_optional(std::string_view sql, const Args&... args) {
    return prepare(sql).template query_optional<T...>(args...);
  }

  /// Any number of statements without arguments, such as a schema.
  void execute_script(std::string_view sql);

  // Implementation
  explicit session(detail::connection& on) noexcept : on_(&on) {}

 private:
  detail::connection* on_;
};

namespace detail {

/// What a call does with its connection.
enum class access : std::uint8_t {
  one_read,   ///< one statement, on a connection for reading if it only reads
  one_write,  ///< one statement
  snapshot,   ///< a transaction that only reads
  change,     ///< a transaction
  inside,     ///< within one that awaits
  copy,       ///< of all of it, elsewhere
};

/// A call that its owner keeps alive until it has run.
class call_ref {
 public:
  template <class F>
    requires(!std::is_same_v<F, call_ref>)
  explicit call_ref(F& call) noexcept
      : call_(&call), run_([](void* of, session& on) { (*static_cast<F*>(of))(on); }) {}

  void operator()(session& on) const { run_(call_, on); }

 private:
  void* call_;
  void (*run_)(void*, session&);
};

}  // namespace detail
}  // namespace tandem::inline v0::io::sqlite
