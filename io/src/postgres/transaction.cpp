// transaction.cpp: from BEGIN to COMMIT or ROLLBACK. Protocol postgres_transaction: README.md.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <new>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/postgres/transaction.hpp>
#include <tandem/retry.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>

#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres {

namespace {

std::string words_of_begin(const transaction_options& options) {
  std::string sql = "begin";
  switch (options.isolation) {
    case isolation::server_default: break;
    case isolation::read_committed: sql += " isolation level read committed"; break;
    case isolation::repeatable_read: sql += " isolation level repeatable read"; break;
    case isolation::serializable: sql += " isolation level serializable"; break;
  }
  if (options.read_only) sql += " read only";
  if (options.deferrable) sql += " deferrable";
  return sql;
}

std::string savepoint_name(std::uint64_t scope) { return "tandem_" + std::to_string(scope); }

}  // namespace

transaction::transaction(detail::session& of, std::uint64_t outer) noexcept
    : queryable(&of, of.new_scope()), outer_(outer) {}

transaction::~transaction() {
  if (!is_open_) return;
  // There was no memory for the task that ends it. Nobody may take it for a part of what he does.
  session_->close("a transaction was left open");
  session_->set_scope(outer_);
}

// postgres_transaction/begin
task<void> transaction::begin(transaction_options options) {
  const std::string sql =
      outer_ == 0 ? words_of_begin(options) : "savepoint " + savepoint_name(scope_);
  (void)co_await session_->change_scope(outer_, sql, scope_);
  is_open_ = true;
}

task<void> transaction::commit(transaction_options options) {
  if (stop_requested()) {
    const stop_reason why = current_stop_reason();
    co_await roll_back(options);
    throw operation_cancelled(why);
  }
  co_await shielded(end_by(options));  // postgres_transaction/end
}

task<void> transaction::end_by(transaction_options options) {
  const std::string sql = outer_ == 0 ? "commit" : "release savepoint " + savepoint_name(scope_);
  const auto ended = co_await as_result(
      with_timeout(options.end_limit, session_->change_scope(scope_, sql, outer_)));
  if (ended.has_value()) {
    is_open_ = false;
    // postgres_transaction/answer: COMMIT of a transaction that has failed is answered so.
    if (outer_ == 0 && ended.value() == "ROLLBACK") {
      throw error(errc::transaction_aborted,
                  "postgres: rolled back: a statement of the transaction had failed");
    }
    co_return;
  }
  if (!session_->is_open()) {
    is_open_ = false;
    session_->set_scope(outer_);
    // postgres_transaction/unknown
    throw error(outer_ == 0 ? errc::outcome_unknown : errc::connection_lost,
                session_->why_closed());
  }
  // The server has refused: a deferred constraint, a serialization failure. At COMMIT that has
  // rolled back already, and then ROLLBACK is no more than a warning.
  co_await roll_back(options);
  std::rethrow_exception(ended.exception());
}

task<void> transaction::roll_back(transaction_options options) {
  if (!is_open_) co_return;
  if (session_->is_open()) try {
      const std::string name = savepoint_name(scope_);
      const std::string sql = outer_ == 0
                                  ? "rollback"
                                  : "rollback to savepoint " + name + "; release savepoint " + name;
      const auto ended = co_await as_result(
          shielded(with_timeout(options.end_limit, session_->change_scope(scope_, sql, outer_))));
      if (!ended.has_value()) session_->close("a transaction could not be rolled back");
    } catch (const std::bad_alloc&) {
      session_->close("a transaction could not be rolled back");
    }
  is_open_ = false;
  session_->set_scope(outer_);
}

namespace detail {

bool is_worth_another(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const error& told) {
    return told.code() == errc::serialization_failure || told.code() == errc::deadlock;
  } catch (...) {
    return false;
  }
}

task<void> pause_before_attempt(unsigned attempt) {
  const retry_options pauses = retry_options()
                                   .initial_delay(std::chrono::milliseconds(5))
                                   .max_delay(std::chrono::seconds(1));
  co_await sleep_for(pauses.delay_after(attempt));
}

}  // namespace detail
}  // namespace tandem::inline v0::io::postgres
