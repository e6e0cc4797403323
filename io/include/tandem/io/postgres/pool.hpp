// pool.hpp: connections that are shared by many tasks, one after the other.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/postgres/connection.hpp>
#include <tandem/io/postgres/export.hpp>
#include <tandem/io/postgres/options.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io::postgres {

/// Counts of a pool at one moment.
class pool_stats {
 public:
  pool_stats() noexcept = default;

  std::size_t in_use = 0;
  std::size_t idle = 0;
  std::size_t waiting = 0;
  std::uint64_t opened = 0;    ///< so far
  std::uint64_t replaced = 0;  ///< of those that were closed, broken ones
  std::uint64_t refused = 0;   ///< tasks that got none
};

/// A number of connections to one server, for any number of tasks: who finds none free waits, first
/// come, first served.
///
///     tandem::io::postgres::pool pool("dbname=shop");
///     auto names = co_await pool.query<std::string>("select name from users");
///     co_await pool.with_transaction([&](postgres::transaction& t) -> tandem::task<void> {
///       co_await t.query("delete from users where name = $1", name);
///     });
///
/// Connections are opened when they are asked for. One that was idle for long is asked first
/// whether it still answers; a broken one is replaced, and the user sees nothing of it. Nothing
/// runs while nobody asks.
///
/// @thread_safety  all members from any thread
class TANDEM_IO_POSTGRES_API pool {
 public:
  explicit pool(std::string conninfo, pool_options options = {});
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// pre: no connection is in use
  ~pool();

  /// Runs `body(connection)` with a connection of its own. What it leaves behind, an open
  /// transaction or a COPY, is rolled back; session settings (SET, LISTEN, prepared statements)
  /// stay with the connection.
  ///
  /// @returns        what the body returns
  /// @throws         what the body throws; error: pool_exhausted; as connection::open()
  /// @cancellation   ends the wait; reaches the body
  /// @resumes_on     the caller's home
  template <class Body>
  task<detail::body_value<std::decay_t<Body>, connection>> with_connection(Body&& body) {
    static_assert(tandem::detail::safe_in_co_await<Body&&>,
                  "g++ 12 would destroy this temporary lambda's captures twice: give it a name "
                  "first, or capture by reference");
    using value = detail::body_value<std::decay_t<Body>, connection>;
    return run_with<value, std::decay_t<Body>>(this, std::forward<Body>(body));
  }

  /// One statement on any connection: connection::query().
  template <class... T, class... Args>
  task<typename detail::query_answer<T...>::type> query(command what, const Args&... values) {
    constexpr bool in_binary = (detail::asks_for_bytes<T> || ...);
    return detail::answer_as<T...>(
        ask(std::move(what), detail::parameters_of(values...), in_binary));
  }

  /// with_connection(), and connection::with_transaction().
  template <class Body>
  task<detail::body_value<std::decay_t<Body>, transaction>> with_transaction(
      Body&& body, transaction_options options = {}) {
    static_assert(tandem::detail::safe_in_co_await<Body&&>,
                  "g++ 12 would destroy this temporary lambda's captures twice: give it a name "
                  "first, or capture by reference");
    using value = detail::body_value<std::decay_t<Body>, transaction>;
    return run_transaction<value, std::decay_t<Body>>(this, std::forward<Body>(body), options);
  }

  /// Opens min_idle connections now, rather than with the first that ask.
  ///
  /// @throws  as connection::open()
  task<void> warm_up();
  /// Closes what is idle; what is in use is closed when it comes back, and nobody gets one any
  /// more (errc::closed).
  void close() noexcept;

  pool_stats stats() const;

  // Implementation
 private:
  class impl;
  /// A connection in use, with its place. Gone before give_back() has ended it is closed, and leaves the place.
  class TANDEM_IO_POSTGRES_API lease {
   public:
    lease(std::shared_ptr<impl> owner, connection&& of) noexcept;
    lease(lease&&) noexcept = default;
    lease& operator=(lease&&) = delete;
    ~lease();

    std::shared_ptr<impl> from;  // null: it was given back
    connection mine;
  };

  task<lease> acquire();
  /// @returns  whether it could be given back at once; else give_back() tidies it up first
  bool give_back_tidy(lease& used) noexcept;
  task<void> give_back(lease& used);
  task<rows> ask(command what, parameters given, bool in_binary);

  template <class T, class Body>
  static task<T> run_with(pool* self, Body body) {
    lease held = co_await self->acquire();
    result<T> ended = co_await as_result(detail::called_body<T>(body, held.mine));
    if (!self->give_back_tidy(held)) co_await self->give_back(held);
    co_return std::move(ended).value();
  }
  template <class T, class Body>
  static task<T> run_transaction(pool* self, Body body, transaction_options options) {
    lease held = co_await self->acquire();
    const auto inside = [&body](transaction& given) { return std::invoke(body, given); };
    result<T> ended = co_await as_result(held.mine.with_transaction(inside, options));
    if (!self->give_back_tidy(held)) co_await self->give_back(held);
    co_return std::move(ended).value();
  }

  std::shared_ptr<impl> impl_;
};

}  // namespace tandem::inline v0::io::postgres
