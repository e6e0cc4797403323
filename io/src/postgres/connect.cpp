// connect.cpp: from a connection string to a session that is logged in. Protocol postgres_connect: README.md.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <functional>
#include <new>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/clock.hpp>
#include <tandem/detail/report_suppressed.hpp>
#include <tandem/environment.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/timeout.hpp>
#include <utility>

#include "postgres/conninfo.hpp"
#include "postgres/failure.hpp"
#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres::detail {

namespace {

constexpr std::chrono::milliseconds connect_limit_by_default{30000};

}  // namespace

task<void> session::connect(std::string text) {
  conninfo info(text);
  where_ = info.in_words();
  const std::chrono::milliseconds limit =
      options_.connect_limit.value_or(info.limit().value_or(connect_limit_by_default));
  const result<void> ended = co_await as_result(with_timeout(limit, connect_within(info)));
  if (ended.has_value()) co_return;
  close("it was never open");  // postgres_connect/limit
  if (ended.is_cancelled() && !stop_requested()) {
    throw error(errc::cannot_connect, "postgres::connection::open " + where_ +
                                          ": no answer within " + std::to_string(limit.count()) +
                                          " ms (connect_limit)");
  }
  std::rethrow_exception(ended.exception());
}

task<void> session::connect_within(conninfo& info) {
  co_await info.resolve_hosts();
  const std::vector<const char*> keywords = info.keywords();
  const std::vector<const char*> values = info.values();
  auto begin = [&] { conn_ = PQconnectStartParams(keywords.data(), values.data(), 0); };
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  auto step = [&] { next = PQconnectPoll(conn_); };
  if (info.may_block()) {
    co_await blocking(std::ref(begin));
  } else {
    begin();
  }
  if (conn_ == nullptr) throw std::bad_alloc();
  PQsetNoticeReceiver(conn_, &session::take_notice, this);
  if (PQstatus(conn_) == CONNECTION_BAD) next = PGRES_POLLING_FAILED;
  while (next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED) throw connect_failure(trimmed(PQerrorMessage(conn_)), where_);
    // postgres_connect/look: the socket may be another one after each step.
    const native_descriptor socket = PQsocket(conn_);
    if (next == PGRES_POLLING_READING) {
      co_await io::readable(socket);
    } else {
      co_await io::writable(socket);
    }
    if (info.may_block()) {
      co_await blocking(std::ref(step));
    } else {
      step();
    }
  }
  if (PQsetnonblocking(conn_, 1) != 0)
    throw connect_failure(trimmed(PQerrorMessage(conn_)), where_);
  notices_.clear();  // of hosts that were tried in vain
  born_ = tandem::now();
  is_open_.store(true, std::memory_order_release);
}

void session::take_notice(void* self, const PGresult* notice) noexcept {
  constexpr std::size_t most = 1000;
  auto& of = *static_cast<session*>(self);
  if (!of.options_.on_notice || of.notices_.size() >= most) return;
  try {
    of.notices_.push_back(words_of(notice));
  } catch (...) {  // no memory: libpq, which calls this, could not be told; a notice may be missed
  }
}

void session::deliver_notices() noexcept {
  if (notices_.empty()) return;
  const std::vector<server_words> told = std::exchange(notices_, {});
  for (const server_words& each : told) {
    try {
      options_.on_notice(each);
    } catch (...) {
      if (const environment* env = current_environment()) {
        tandem::detail::report_suppressed(*env, std::current_exception());
      }
    }
  }
}

}  // namespace tandem::inline v0::io::postgres::detail
