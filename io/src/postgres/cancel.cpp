// cancel.cpp: ends what runs at the server, and reads to its end. Protocol postgres_stop: README.md.
// SPDX-License-Identifier: MIT
#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/context.hpp>
#include <tandem/event.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/shielded.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>

#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres::detail {

namespace {

/// One call of PQcancel(), which belongs to nobody else: it may go on after all have left.
class cancel_call {
 public:
  explicit cancel_call(PGconn* of) : request_(PQgetCancel(of)) {
    if (request_ == nullptr) throw std::bad_alloc();
  }
  cancel_call(const cancel_call&) = delete;
  cancel_call& operator=(const cancel_call&) = delete;
  ~cancel_call() { PQfreeCancel(request_); }

  void operator()() noexcept {
    std::array<char, 256> why;
    (void)PQcancel(request_, why.data(), static_cast<int>(why.size()));
  }
  event& done() noexcept { return done_; }

 private:
  PGcancel* request_;
  event done_;
};

task<void> call_cancel(std::shared_ptr<cancel_call> call) {
  // A failure is no more than a cancel that has not arrived.
  (void)co_await as_result(blocking(std::ref(*call)));
  call->done().set();
}

}  // namespace

task<void> session::send_cancel() {  // postgres_stop/cancel
  const auto call = std::make_shared<cancel_call>(conn_);
  spawn(no_flow, call_cancel(call)).detach();
  co_await call->done().wait();
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
  begin_answers();
  const result<void> ended =
      co_await as_result(shielded(with_timeout(options_.cancel_limit, end_copy(what))));
  if (!ended.has_value() || PQstatus(conn_) != CONNECTION_OK) {
    close("a COPY was given up, and its end was not confirmed in time");
  }
  begin_answers();
}

task<void> session::clean_up() {
  const leftover what = leftover_.load(std::memory_order_acquire);
  leftover_.store(leftover::none, std::memory_order_relaxed);
  if (!is_open() || what == leftover::none) co_return;
  co_await end_leftover(what);
}

}  // namespace tandem::inline v0::io::postgres::detail
