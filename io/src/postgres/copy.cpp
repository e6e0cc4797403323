// copy.cpp: COPY, both ways. Protocol postgres_copy: README.md.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <new>
#include <tandem/io/postgres/copy.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/shielded.hpp>
#include <tandem/stop.hpp>
#include <utility>

#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres {

namespace detail {

task<std::uint64_t> session::begin_copy(std::uint64_t scope, std::string sql, bool is_in) {
  const mutex_guard turn = co_await turn_.scoped_lock();
  if (has_leftover()) co_await clean_up();
  check(scope);
  if (sql.find('\0') != std::string::npos) {
    throw error(errc::bad_statement, "postgres: the statement has a zero byte");
  }
  is_extended_ = false;
  check_sent(PQsendQuery(conn_, sql.c_str()));
  co_await exchange();
  if (!is_in_copy_) {
    settle();
    // It has ended before it could be stopped.
    if (stop_requested()) throw statement_stopped(current_stop_reason(), true);
    throw error(errc::bad_statement, "postgres: this is no COPY from stdin or to stdout: " + sql);
  }
  if (copy_status_ != (is_in ? PGRES_COPY_IN : PGRES_COPY_OUT)) {
    co_await end_leftover(is_in ? leftover::copy_out : leftover::copy_in);
    throw error(errc::bad_statement, "postgres: this COPY goes the other way: " + sql);
  }
  copy_outer_ = scope;
  copy_is_in_ = is_in;
  const std::uint64_t own = new_scope();
  set_scope(own);
  co_return own;
}

task<void> session::write_copy(std::uint64_t scope, std::span<const std::byte> data) {
  constexpr std::size_t most = std::size_t(64) * 1024;  // so that the server gets it while we copy
  const mutex_guard turn = co_await turn_.scoped_lock();
  check(scope);
  while (!data.empty()) {
    const std::span<const std::byte> part = data.first(data.size() < most ? data.size() : most);
    const char* const first = reinterpret_cast<const char*>(part.data());  // NOLINT
    const int taken = PQputCopyData(conn_, first, static_cast<int>(part.size()));
    if (taken < 0) {  // the server has ended it, and says why
      set_scope(copy_outer_);
      co_await exchange();
      settle();
      throw error(errc::failed, "postgres: the COPY has ended early");
    }
    if (taken > 0) data = data.subspan(part.size());
    if (PQflush(conn_) == 1) co_await flush();
  }
}

task<std::uint64_t> session::finish_copy(std::uint64_t scope, const char* give_up) {
  const mutex_guard turn = co_await turn_.scoped_lock();
  check(scope);
  while (true) {
    const int taken = PQputCopyEnd(conn_, give_up);
    if (taken != 0) break;
    co_await flush();
  }
  set_scope(copy_outer_);  // before it has ended whoever is stopped drops it
  co_await exchange();     // if it was not taken the server has ended it, and says why
  if (give_up != nullptr) {
    if (PQstatus(conn_) != CONNECTION_OK) fail_lost();
    co_return 0;
  }
  settle();
  co_return take_last().affected();
}

task<std::pair<char*, std::size_t>> session::read_copy(std::uint64_t scope) {
  const mutex_guard turn = co_await turn_.scoped_lock();
  check(scope);
  while (true) {
    char* row = nullptr;
    const int got = PQgetCopyData(conn_, &row, 1);
    if (got > 0) co_return std::make_pair(row, static_cast<std::size_t>(got));
    // Not the end: libpq has no memory for the row. Its reader gives the COPY up.
    if (got == -2 && PQstatus(conn_) == CONNECTION_OK) throw std::bad_alloc();
    if (got < 0) break;
    co_await io::readable(PQsocket(conn_));
    (void)PQconsumeInput(conn_);
  }
  set_scope(copy_outer_);
  co_await exchange();
  settle();
  co_return std::make_pair(static_cast<char*>(nullptr), std::size_t(0));
}

void session::drop_copy(std::uint64_t scope) noexcept {
  if (!is_open() || scope_.load(std::memory_order_acquire) != scope) return;
  if (copy_is_in_) {
    // postgres_copy/drop: the server may let go of its locks now, not with the next statement.
    (void)PQputCopyEnd(conn_, "the COPY was dropped");
    (void)PQflush(conn_);
  }
  leftover_.store(copy_is_in_ ? leftover::copy_in : leftover::copy_out, std::memory_order_release);
  set_scope(copy_outer_);
}

session& copy_hold::live() const {
  if (of_ == nullptr) throw error(errc::closed, "postgres: the COPY has ended");
  return *of_;
}

void copy_hold::drop() noexcept {
  if (of_ != nullptr) std::exchange(of_, nullptr)->drop_copy(scope_);
}

}  // namespace detail

task<void> copy_in::write_all(std::span<const std::byte> data) {
  detail::session& of = live();
  try {
    co_await of.write_copy(scope_, data);
  } catch (...) {
    drop();  // postgres_copy/give_up: nobody knows how much was sent
    throw;
  }
}

task<void> copy_in::write_all(std::string_view text) {
  return write_all(std::as_bytes(std::span(text.data(), text.size())));
}

task<std::uint64_t> copy_in::finish() {
  detail::session& of = live();
  try {
    const std::uint64_t count = co_await of.finish_copy(scope_, nullptr);
    of_ = nullptr;
    co_return count;
  } catch (...) {
    drop();
    throw;
  }
}

task<void> copy_in::cancel() {
  detail::session& of = live();
  try {
    (void)co_await shielded(of.finish_copy(scope_, "the COPY was cancelled"));
    of_ = nullptr;
  } catch (...) {
    drop();
    throw;
  }
}

void copy_out::freed::operator()(char* row) const noexcept { PQfreemem(row); }

task<std::span<const std::byte>> copy_out::read() {
  row_.reset();
  if (of_ == nullptr) co_return std::span<const std::byte>();
  try {
    const auto [row, size] = co_await of_->read_copy(scope_);
    row_.reset(row);
    if (row == nullptr) of_ = nullptr;
    co_return std::as_bytes(std::span(row, size));
  } catch (const operation_cancelled&) {
    throw;  // no row is lost
  } catch (...) {
    drop();
    throw;
  }
}

task<void> copy_out::cancel() {
  if (of_ == nullptr) co_return;
  detail::session& of = *of_;
  drop();
  const mutex_guard turn = co_await of.turn().scoped_lock();
  if (of.has_leftover()) co_await of.clean_up();
}

}  // namespace tandem::inline v0::io::postgres
