// transaction.hpp: a transaction as the scope of a task.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <tandem/as_result.hpp>
#include <tandem/io/postgres/export.hpp>
#include <tandem/io/postgres/options.hpp>
#include <tandem/io/postgres/queryable.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io::postgres {

/// What the body of with_transaction() asks by. It has the connection until the body has ended.
class TANDEM_IO_POSTGRES_API transaction : public queryable {
 public:
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;

  // Implementation
  transaction(detail::session& of, std::uint64_t outer) noexcept;
  /// Gives the connection back to what had it before.
  ~transaction();

  task<void> begin(transaction_options options);
  /// Not stopped any more once it has begun. @throws operation_cancelled if a stop came before,
  /// and error; then it was rolled back, or the connection is closed
  task<void> commit(transaction_options options);
  /// After a failure of the body; throws nothing: what does not work closes the connection.
  task<void> roll_back(transaction_options options);

 private:
  task<void> end_by(transaction_options options);

  std::uint64_t outer_;
  bool is_open_ = false;
};

namespace detail {

/// serialization_failure or deadlock.
TANDEM_IO_POSTGRES_API bool is_worth_another(const std::exception_ptr& failure) noexcept;
/// A moment, longer each time, never the same for two.
TANDEM_IO_POSTGRES_API task<void> pause_before_attempt(unsigned attempt);

/// A body that throws before it is a task fails inside of that task.
template <class T, class Body, class Given>
task<T> called_body(Body& body, Given& given) {
  co_return co_await std::invoke(body, given);
}

template <class T, class Body>
task<T> run_transaction(session& of, std::uint64_t outer, Body body, transaction_options options) {
  for (unsigned attempt = 1;; ++attempt) {
    std::exception_ptr failure;
    {
      transaction inside(of, outer);
      co_await inside.begin(options);
      result<T> ended = co_await as_result(called_body<T>(body, inside));
      if (ended.has_value()) {
        const result<void> committed = co_await as_result(inside.commit(options));
        if (committed.has_value()) co_return std::move(ended).value();
        failure = committed.exception();
      } else {
        failure = ended.exception();
        co_await inside.roll_back(options);
      }
    }
    const bool again = attempt < options.attempts && outer == 0 && is_worth_another(failure);
    if (!again) std::rethrow_exception(std::move(failure));
    co_await pause_before_attempt(attempt);
  }
}

}  // namespace detail

template <class Body>
task<detail::body_value<std::decay_t<Body>, transaction>> queryable::with_transaction(
    Body&& body, transaction_options options) {
  static_assert(tandem::detail::safe_in_co_await<Body&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto body = [...]...; co_await c.with_transaction(body);), or capture by "
                "reference");
  using value = detail::body_value<std::decay_t<Body>, transaction>;
  return detail::run_transaction<value, std::decay_t<Body>>(open_session(), scope_,
                                                            std::forward<Body>(body), options);
}

}  // namespace tandem::inline v0::io::postgres
