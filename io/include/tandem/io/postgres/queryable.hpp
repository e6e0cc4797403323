// queryable.hpp: what can be asked of a connection, and of a transaction on it.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tandem/detail/as_task.hpp>
#include <tandem/io/postgres/copy.hpp>
#include <tandem/io/postgres/export.hpp>
#include <tandem/io/postgres/options.hpp>
#include <tandem/io/postgres/rows.hpp>
#include <tandem/io/postgres/statement.hpp>
#include <tandem/io/postgres/value.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::postgres {

class transaction;
class pipeline;

namespace detail {

class session;

template <class... T>
struct query_answer {
  using type = std::vector<typed_row_t<T...>>;
};
template <>
struct query_answer<> {
  using type = rows;
};

/// What points into the rows that it is read from.
template <class T>
inline constexpr bool points_into_rows =
    std::same_as<T, std::string_view> || std::same_as<T, std::optional<std::string_view>>;

template <class... T>
task<std::vector<typed_row_t<T...>>> typed_answer(task<rows> asked) {
  static_assert(!(points_into_rows<T> || ...),
                "a std::string_view would outlive the answer that it points into: ask for a "
                "std::string, or keep the rows");
  const rows got = co_await std::move(asked);
  co_return got.as<T...>();
}

/// The answer as query<T...>() returns it.
template <class... T>
task<typename query_answer<T...>::type> answer_as(task<rows> asked) {
  if constexpr (sizeof...(T) == 0) {
    return asked;
  } else {
    return typed_answer<T...>(std::move(asked));
  }
}

template <class Body, class Given>
using body_value = typename std::invoke_result_t<Body&, Given&>::value_type;

}  // namespace detail

/// Statements of a connection, or of a transaction on it. One is under way at a time: others wait,
/// in the order in which they came. While a transaction, a pipeline or a COPY has the connection,
/// statements go by that; others are refused (errc::in_use), since they would wait for themselves
/// if they came from inside.
///
/// All of these have in common:
/// @throws         error: what the server says of the statement, whose transaction then has failed,
///                 while the connection stays usable; connection_lost, shutting_down, closed:
///                 the connection is gone; in_use. operation_cancelled, as statement_stopped if the
///                 statement had begun
/// @cancellation   a statement that has begun is cancelled at the server (PQcancel on a thread
///                 of its own) and its end is read, so the connection is usable after it; or closed,
///                 after cancel_limit. The statement may win that race, and its answer is returned
/// @thread_safety  any number of tasks, on any threads; but the connection is moved and ends only
///                 while nothing is under way
/// @resumes_on     the caller's home. Cheapest is that of a completion thread
class TANDEM_IO_POSTGRES_API queryable {
 public:
  /// Runs one statement, with parameters $1, $2, ... in it.
  ///
  ///     auto all = co_await c.query("select * from users where name = $1", name);
  ///     auto typed = co_await c.query<int, std::string>("select id, name from users");
  ///
  /// @param what    SQL, or a prepared statement; kept until the end, as the parameters are
  /// @param values  numbers, bool, text, bytes, std::nullopt, optionals of these
  /// @returns       rows; with types T a vector of T, or of tuples, one for each row
  /// @throws        as above; error (bad_parameter)
  /// @cost          two frames, three allocations beside libpq's; a wait for readiness
  template <class... T, class... Args>
  task<typename detail::query_answer<T...>::type> query(command what, const Args&... values) {
    constexpr bool in_binary = (detail::asks_for_bytes<T> || ...);
    return detail::answer_as<T...>(
        ask(std::move(what), detail::parameters_of(values...), in_binary));
  }

  /// Runs a script: any number of statements, separated by semicolons, without parameters. Outside
  /// a transaction it is one of its own.
  ///
  /// @returns  an answer for each statement
  /// @throws   as above: the first failure, after which nothing more of the script is run
  task<std::vector<rows>> execute(std::string script);

  /// Has a statement planned, to be run by query().
  ///
  /// @param name  unique on the connection; empty: one is made up
  task<statement> prepare(std::string sql, std::string name = {});
  /// Forgets it at the server.
  task<void> deallocate(statement prepared);

  /// Begins COPY ... FROM STDIN: bytes go to the server, by an object that has the connection until
  /// it has finished or is gone.
  ///
  ///     auto in = co_await c.copy_in("copy users (id, name) from stdin");
  ///     co_await in.write_all("1\tann\n2\tbob\n");
  ///     const auto count = co_await in.finish();
  task<postgres::copy_in> copy_in(std::string sql);
  /// Begins COPY ... TO STDOUT: bytes come from the server.
  task<postgres::copy_out> copy_out(std::string sql);

  /// Runs `body(transaction)` in a transaction; in one already, behind a savepoint of it.
  ///
  ///     co_await c.with_transaction([&](transaction& t) -> tandem::task<void> {
  ///       co_await t.query("update accounts set sum = sum - $1 where id = $2", sum, from);
  ///       co_await t.query("update accounts set sum = sum + $1 where id = $2", sum, to);
  ///     });
  ///
  /// If the body ends well the transaction is committed; if it throws, or is stopped, it is rolled
  /// back. A stop that comes before COMMIT is sent rolls back; later it waits for the answer. With
  /// g++ 12 a lambda that captures objects with destructors needs a name.
  ///
  /// @returns        what the body returns, after the commit
  /// @throws         what the body throws, after the roll-back; error: what COMMIT says;
  ///                 transaction_aborted if a statement had failed and the body has kept that to
  ///                 itself; outcome_unknown if the connection broke during COMMIT
  /// @cancellation   reaches the body; see above
  /// @cost           two statements more
  template <class Body>
  task<detail::body_value<std::decay_t<Body>, transaction>> with_transaction(
      Body&& body, transaction_options options = {});

  /// Runs `body(pipeline)`: statements are sent without waiting for the answers of those before.
  ///
  ///     co_await c.with_pipeline([&](pipeline& p) -> tandem::task<void> {
  ///       auto first = co_await p.send("select 1");
  ///       auto second = co_await p.send("select $1 + 1", 1);
  ///       std::printf("%d %d\n", (co_await first.get<int>())[0], (co_await second.get<int>())[0]);
  ///     });
  ///
  /// @returns        what the body returns, after all that was sent has been answered
  /// @throws         what the body throws; error: a failed statement whose answer nobody has taken
  /// @cancellation   reaches the body; what is under way is cancelled as above
  template <class Body>
  task<detail::body_value<std::decay_t<Body>, pipeline>> with_pipeline(Body&& body);

  // Implementation
 protected:
  queryable() noexcept = default;
  queryable(detail::session* of, std::uint64_t scope) noexcept : session_(of), scope_(scope) {}
  ~queryable() = default;

  task<rows> ask(command what, parameters given, bool in_binary);
  /// @throws  error (closed) if it was never opened
  detail::session& open_session() const;

  detail::session* session_ = nullptr;
  std::uint64_t scope_ = 0;  // what has to have the connection for this to be used; 0: nothing
};

}  // namespace tandem::inline v0::io::postgres
