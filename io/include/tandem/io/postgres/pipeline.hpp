// pipeline.hpp: many statements under way at once, on one connection.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tandem/as_result.hpp>
#include <tandem/io/postgres/export.hpp>
#include <tandem/io/postgres/queryable.hpp>
#include <tandem/io/postgres/rows.hpp>
#include <tandem/io/postgres/statement.hpp>
#include <tandem/io/postgres/transaction.hpp>
#include <tandem/io/postgres/value.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::postgres {

namespace detail {
class pipeline_core;
class pipeline_entry;
}  // namespace detail

/// What a statement of a pipeline will have answered. May be dropped: then a failure of the
/// statement is thrown by with_pipeline().
class TANDEM_IO_POSTGRES_API pipeline_answer {
 public:
  pipeline_answer(pipeline_answer&&) noexcept;
  pipeline_answer& operator=(pipeline_answer&&) noexcept;
  ~pipeline_answer();

  /// Waits for it. Once; inside of with_pipeline().
  ///
  /// @returns        rows; with types T as query<T...>()
  /// @throws         error: what the server says of this statement; pipeline_aborted if it was not
  ///                 run because one before it has failed
  /// @cancellation   ends the wait; the answer is kept
  template <class... T>
  task<typename detail::query_answer<T...>::type> get() {
    if constexpr (sizeof...(T) == 0) {
      return taken();
    } else {
      return detail::typed_answer<T...>(taken());
    }
  }

  // Implementation
  pipeline_answer(std::shared_ptr<detail::pipeline_core> of,
                  std::shared_ptr<detail::pipeline_entry> entry) noexcept;

 private:
  task<rows> taken();

  std::shared_ptr<detail::pipeline_core> of_;
  std::shared_ptr<detail::pipeline_entry> entry_;
};

/// What the body of with_pipeline() sends by.
///
/// Statements between two sync() are one transaction, unless a transaction is open around: the
/// first that fails undoes all of them, and those behind it are not run (pipeline_aborted). The end
/// of the body is a sync(), too.
///
/// What has come is read while something is sent, so neither side waits for the other, however
/// large statements and answers are.
///
/// @thread_safety  any number of tasks; their statements are run in the order of the sends
class TANDEM_IO_POSTGRES_API pipeline {
 public:
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  /// Sends a statement, and does not wait for its answer.
  ///
  /// @returns        what will be answered
  /// @throws         error: bad_parameter; connection_lost
  /// @cancellation   ends the wait; the statement may be run all the same
  /// @resumes_on     the caller's home
  /// @cost           a system call for some 32 KiB of statements; waits while the server takes no
  ///                 more
  template <class... Args>
  task<pipeline_answer> send(command what, const Args&... values) {
    return send_with(std::move(what), detail::parameters_of(values...));
  }

  /// send(), and the answer.
  template <class... T, class... Args>
  task<typename detail::query_answer<T...>::type> query(command what, const Args&... values) {
    return detail::answer_as<T...>(ask(std::move(what), detail::parameters_of(values...)));
  }

  /// Ends what belongs together: what comes later is run even if something before has failed.
  ///
  /// @throws  error (connection_lost)
  task<void> sync();

  /// Statements that were sent, and not answered yet.
  std::size_t unanswered() const noexcept;

  // Implementation
  pipeline(detail::session& of, std::uint64_t outer);
  ~pipeline();

  task<void> begin();
  /// Reads answers until finish() has been answered; beside the body.
  task<void> read_answers();
  /// After the body: the last sync, and all answers.
  task<void> finish();
  /// After a failure, when read_answers() has ended: cancels, reads the rest, or closes.
  task<void> wind_up();
  /// @throws  the failure of an answer that nobody has taken
  void conclude();

 private:
  task<pipeline_answer> send_with(command what, parameters given);
  task<rows> ask(command what, parameters given);

  std::shared_ptr<detail::pipeline_core> core_;
};

namespace detail {

template <class T, class Body>
task<T> pipeline_body(Body& body, pipeline& given) {
  if constexpr (std::is_void_v<T>) {
    co_await std::invoke(body, given);
    co_await given.finish();
  } else {
    T value = co_await std::invoke(body, given);
    co_await given.finish();
    co_return value;
  }
}

template <class T, class Body>
task<T> run_pipeline(session& of, std::uint64_t outer, Body body) {
  pipeline inside(of, outer);
  co_await inside.begin();
  const auto both = [&body, &inside](task_scope& scope) {
    scope.spawn(inside.read_answers());
    return pipeline_body<T>(body, inside);
  };
  result<T> ended = co_await as_result(with_scope(both));
  co_await inside.wind_up();
  if (ended.has_value()) inside.conclude();
  co_return std::move(ended).value();
}

}  // namespace detail

template <class Body>
task<detail::body_value<std::decay_t<Body>, pipeline>> queryable::with_pipeline(Body&& body) {
  static_assert(tandem::detail::safe_in_co_await<Body&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto body = [...]...; co_await c.with_pipeline(body);), or capture by reference");
  using value = detail::body_value<std::decay_t<Body>, pipeline>;
  return detail::run_pipeline<value, std::decay_t<Body>>(open_session(), scope_,
                                                         std::forward<Body>(body));
}

}  // namespace tandem::inline v0::io::postgres
