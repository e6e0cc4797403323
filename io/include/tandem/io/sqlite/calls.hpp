// calls.hpp: the calls of one statement that a database and a transaction have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tandem/io/sqlite/argument.hpp>
#include <tandem/io/sqlite/export.hpp>
#include <tandem/io/sqlite/session.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::sqlite {

namespace detail {

/// Who has the connections: a database, or a transaction.
class TANDEM_IO_SQLITE_API call_target {
 public:
  call_target() noexcept = default;
  call_target(const call_target&) = delete;
  call_target& operator=(const call_target&) = delete;
  virtual ~call_target();

  /// The caller keeps this and the call alive.
  virtual task<void> run(access how, call_ref call) = 0;
};

[[noreturn]] TANDEM_IO_SQLITE_API void moved_from();

template <class R, class Call>
task<R> answered(std::shared_ptr<call_target> target, access how, Call call) {
  if (target == nullptr) moved_from();
  if constexpr (std::is_void_v<R>) {
    const call_ref given(call);
    co_await target->run(how, given);
  } else {
    std::optional<R> answer;
    auto keep = [&answer, &call](session& on) { answer.emplace(call(on)); };
    const call_ref given(keep);
    co_await target->run(how, given);
    co_return std::move(*answer);
  }
}

inline std::vector<argument> views(const std::vector<value>& of) {
  return std::vector<argument>(of.begin(), of.end());
}

}  // namespace detail

/// Base of database and transaction. Each call is one hop to a thread where it may wait.
///
///     const auto made = co_await db.execute("INSERT INTO user (name) VALUES (?)", name);
///     const auto ages = co_await db.query<std::string, int>("SELECT name, age FROM user");
///     const auto age = co_await db.query_optional<int>("SELECT age FROM user WHERE id = ?", id);
class calls {
 public:
  /// Runs one statement; rows that it returns are passed over.
  ///
  /// @param sql      one statement
  /// @param args     one for each place, in order; copied, views too
  /// @returns        rows changed, and the id of the last one that was inserted
  /// @throws         error; operation_cancelled; std::bad_alloc; what blocking() throws
  /// @cancellation   ends the wait for the connection, the wait for a lock of somebody else's, and
  ///                 the statement while it runs: it has changed nothing then. It may lose the race,
  ///                 and return: then it has. The connection stays usable. Inside a transaction
  ///                 SQLite undoes all of it with an interrupted change
  /// @thread_safety  any number of tasks; they have the connection for writing in turn, in order
  /// @resumes_on     the caller's home
  /// @cost           two frames, copies of text and arguments, two hand-overs between threads
  template <detail::given... Args>
  task<execute_result> execute(std::string_view sql, const Args&... args) const {
    auto call = [text = std::string(sql), given = detail::owned(args...)](session& on) {
      return on.prepare(text).execute_given(detail::views(given));
    };
    return detail::answered<execute_result>(target_, detail::access::one_write, std::move(call));
  }

  /// All rows of one statement.
  ///
  /// @tparam T       of each column, as row::get() has them; no views
  /// @returns        tuples; of one column its values
  /// @throws         as execute(); error: wrong_type, wrong_count
  /// @cancellation   as execute()
  /// @thread_safety  as execute(). What only reads has one of the connections for reading, and does
  ///                 not wait for who writes; `INSERT ... RETURNING` finds its way to the one for
  ///                 writing (a second hop)
  /// @resumes_on     the caller's home
  /// @cost           as execute(), and the rows
  template <class... T, detail::given... Args>
  task<std::vector<row_of<T...>>> query(std::string_view sql, const Args&... args) const {
    auto call = [text = std::string(sql), given = detail::owned(args...)](session& on) {
      return on.prepare(text).template query_given<T...>(detail::views(given));
    };
    return detail::answered<std::vector<row_of<T...>>>(target_, detail::access::one_read,
                                                       std::move(call));
  }

  /// The only row. As query(). @throws  also error: no_row, too_many_rows
  template <class... T, detail::given... Args>
  task<row_of<T...>> query_one(std::string_view sql, const Args&... args) const {
    auto call = [text = std::string(sql), given = detail::owned(args...)](session& on) {
      return on.prepare(text).template one_given<T...>(detail::views(given));
    };
    return detail::answered<row_of<T...>>(target_, detail::access::one_read, std::move(call));
  }

  /// The only row, if there is one. As query(). @throws  also error: too_many_rows
  template <class... T, detail::given... Args>
  task<std::optional<row_of<T...>>> query_optional(std::string_view sql,
                                                   const Args&... args) const {
    auto call = [text = std::string(sql), given = detail::owned(args...)](session& on) {
      return on.prepare(text).template optional_given<T...>(detail::views(given));
    };
    return detail::answered<std::optional<row_of<T...>>>(target_, detail::access::one_read,
                                                         std::move(call));
  }

 protected:
  explicit calls(std::shared_ptr<detail::call_target> target) noexcept
      : target_(std::move(target)) {}
  calls(calls&&) noexcept = default;
  calls& operator=(calls&&) noexcept = default;
  ~calls() = default;

  const std::shared_ptr<detail::call_target>& target() const noexcept { return target_; }

 private:
  std::shared_ptr<detail::call_target> target_;  // null: moved from
};

}  // namespace tandem::inline v0::io::sqlite
