// transaction.hpp: a transaction whose statements are awaited one by one.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <tandem/as_result.hpp>
#include <tandem/context.hpp>
#include <tandem/detail/held_call.hpp>
#include <tandem/io/sqlite/calls.hpp>
#include <tandem/io/sqlite/export.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io::sqlite {

class transaction;

namespace detail {

class core;
class transaction_state;

/// Flows down to whatever a transaction's body, or a call's function, awaits and starts: which
/// database waits for it.
class call_mark;
using call_marks = std::shared_ptr<const call_mark>;
TANDEM_IO_SQLITE_API const context_local<call_marks>& marks() noexcept;

using begun_transaction = std::shared_ptr<transaction_state>;
/// Waits for the connection for writing, and begins. @throws  error, operation_cancelled
TANDEM_IO_SQLITE_API task<begun_transaction> begin(std::shared_ptr<core> of);
/// What begin() of the same database is to find.
TANDEM_IO_SQLITE_API call_marks mark_of(const begun_transaction& begun);
/// Ends it: it is committed if this returns, and rolled back if it throws.
TANDEM_IO_SQLITE_API task<void> commit(begun_transaction begun);
/// Whoever is stopped around it.
TANDEM_IO_SQLITE_API task<void> roll_back(begun_transaction begun);

template <class Body>
using body_value = typename std::invoke_result_t<Body&, transaction&>::value_type;

/// The call itself belongs to the transaction, too: it may throw.
template <class Body>
task<body_value<Body>> call_body(Body& body, transaction& begun) {
  co_return co_await std::invoke(body, begun);
}

template <class Body>
task<body_value<Body>> run_transaction(std::shared_ptr<core> of, Body body);

}  // namespace detail

/// What database::with_transaction() hands to its body. Has execute(), query(), query_one() and
/// query_optional() of `calls`, each a hop, on the connection that it holds.
///
/// @thread_safety  any number of tasks; their statements are run in turn
class TANDEM_IO_SQLITE_API transaction : public calls {
 public:
  transaction(transaction&&) noexcept = default;
  transaction& operator=(transaction&&) noexcept = default;
  ~transaction();

  /// Calls `f(session&)` within the transaction: many statements in one hop. Other calls of the
  /// transaction by whatever `f` waits for or starts are refused (nested).
  ///
  /// @param f        a function that returns no coroutine. With g++ 12 a temporary lambda that
  ///                 captures objects with destructors needs a name
  /// @returns        what `f` returns
  /// @throws         what `f` throws; as execute()
  /// @cancellation   as execute(). What `f` has changed before stays a part of the transaction
  /// @resumes_on     the caller's home
  template <std::invocable<session&> F>
  auto run(F&& f) {
    static_assert(tandem::detail::safe_in_co_await<F&&>,
                  "g++ 12 would destroy this temporary lambda's captures twice: give it a name "
                  "first, or capture by reference");
    using returned = std::invoke_result_t<std::decay_t<F>&, session&>;
    return detail::answered<returned>(target(), detail::access::inside,
                                      std::decay_t<F>(std::forward<F>(f)));
  }

  // Implementation
  explicit transaction(detail::begun_transaction begun) noexcept;
};

template <class Body>
task<detail::body_value<Body>> detail::run_transaction(std::shared_ptr<core> of, Body body) {
  const begun_transaction begun = co_await begin(std::move(of));
  transaction given(begun);  // the body may move it, and keep it: it is over all the same
  call_marks mark = mark_of(begun);
  auto marked = with_context(marks(), std::move(mark), call_body(body, given));
  result<body_value<Body>> ended = co_await as_result(std::move(marked));
  if (ended.has_value()) {
    co_await commit(begun);
  } else {
    co_await roll_back(begun);
  }
  co_return std::move(ended).value();
}

}  // namespace tandem::inline v0::io::sqlite
