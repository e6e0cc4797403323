// cancel.cpp: reads a statement to its end, also one that is cancelled at the server. Protocol postgres_stop: README.md.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <exception>
#include <new>
#include <tandem/as_result.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/shielded.hpp>
#include <tandem/timeout.hpp>

#include "postgres/cancel_threads.hpp"
#include "postgres/failure.hpp"
#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres::detail {

namespace {

constexpr std::string_view no_memory = "memory ran out in the midst of a statement";

}  // namespace

task<void> session::exchange() {
  try {
    return exchange_now();
  } catch (const std::bad_alloc&) {
    close(no_memory);
    throw;
  }
}

task<void> session::exchange_now() try {
  begin_answers();
  const result<void> ended = co_await as_result(flush_and_collect());
  if (ended.has_value()) co_return;
  const std::optional<stop_reason> why = ended.reason();
  if (!why) {  // the system refuses to wait, or memory is out, in the midst of an answer
    close("waiting for the server failed");
    std::rethrow_exception(ended.exception());
  }
  co_await shielded(end_stopped(*why));
} catch (const std::bad_alloc&) {
  close(no_memory);
  throw;
}

task<void> session::send_cancel() {  // postgres_stop/cancel
  const auto begin = [this](const callback<void()>& told) { cancel_on_a_thread(conn_, told); };
  // Whoever has lost patience leaves: PQcancel() uses nothing of ours.
  const result<void> told =
      co_await as_result(from_callback<void()>(begin, as_values, abandonable));
  // Another failure is no more than a cancel that has not arrived.
  if (told.is_cancelled()) std::rethrow_exception(told.exception());
}

task<void> session::collect_past_copy() {
  co_await collect();
  while (is_in_copy_) {
    is_in_copy_ = false;
    // postgres_stop/copy: the server answers once or twice then, and nobody can tell.
    if (copy_status_ == PGRES_COPY_IN && is_extended_ && was_cancelled_) {
      throw error(errc::connection_lost, "postgres: a COPY by query() was cancelled");
    }
    if (PQsetnonblocking(conn_, 1) == 0 && PQputCopyEnd(conn_, "stopped") == 1) {
      co_await flush();  // a COPY to the server
    } else {
      while (true) {
        char* row = nullptr;
        const int got = PQgetCopyData(conn_, &row, 1);
        PQfreemem(row);
        if (got < 0) break;
        if (got > 0) continue;
        co_await io::readable(PQsocket(conn_));
        (void)PQconsumeInput(conn_);
      }
    }
    co_await collect();
  }
}

task<void> session::cancel_and_collect() {
  co_await flush();  // postgres_stop/whole: half a statement cannot be cancelled
  std::chrono::milliseconds pause{100};
  while (true) {
    was_cancelled_ = true;
    co_await send_cancel();
    // postgres_stop/again: a cancel that came before the statement began has hit nothing.
    const result<void> ended = co_await as_result(with_timeout(pause, collect_past_copy()));
    if (ended.has_value()) co_return;
    if (!ended.is_cancelled() || stop_requested()) std::rethrow_exception(ended.exception());
    pause *= 2;
  }
}

task<void> session::end_stopped(stop_reason why) {
  const result<void> ended =
      co_await as_result(with_timeout(options_.cancel_limit, cancel_and_collect()));
  if (!ended.has_value() || PQstatus(conn_) != CONNECTION_OK) {
    // postgres_stop/limit
    close("a statement was stopped, and its end was not confirmed in time");
    throw statement_stopped(why, false);
  }
  // postgres_stop/late: without an error it has won the race; another error is its own.
  if (failed_.get() == nullptr) co_return;
  const char* const state = PQresultErrorField(failed_.get(), PG_DIAG_SQLSTATE);
  if (state != nullptr && code_of(state) == errc::statement_cancelled) {
    throw statement_stopped(why, true);
  }
}

task<void> session::end_copy(leftover what) {
  if (what == leftover::copy_in) {
    // postgres_copy/fail: CopyFail was sent, or is sent there; the server ends it by itself.
    co_await flush();
    co_await collect_past_copy();
  } else {
    co_await cancel_and_collect();
  }
}

task<void> session::end_leftover(leftover what) {
  try {
    return end_leftover_now(what);
  } catch (const std::bad_alloc&) {
    close("a COPY was given up, and memory ran out");
    throw;
  }
}

task<void> session::end_leftover_now(leftover what) try {
  begin_answers();
  const result<void> ended =
      co_await as_result(shielded(with_timeout(options_.cancel_limit, end_copy(what))));
  if (!ended.has_value() || PQstatus(conn_) != CONNECTION_OK) {
    close("a COPY was given up, and its end was not confirmed in time");
  }
  begin_answers();
} catch (const std::bad_alloc&) {
  close("a COPY was given up, and memory ran out");
  throw;
}

task<void> session::clean_up() {
  const leftover what = leftover_.load(std::memory_order_acquire);
  leftover_.store(leftover::none, std::memory_order_relaxed);
  if (!is_open() || what == leftover::none) co_return;
  co_await end_leftover(what);
}

}  // namespace tandem::inline v0::io::postgres::detail
