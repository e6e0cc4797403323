// session.cpp: one statement, from its first byte to its last answer. Protocol postgres_statement: README.md.
// SPDX-License-Identifier: MIT
#include "postgres/session.hpp"

#include <array>
#include <new>
#include <tandem/as_result.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/shielded.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_any.hpp>

#include "postgres/failure.hpp"

namespace tandem::inline v0::io::postgres::detail {

session::session(connect_options options)
    : options_(std::move(options)), cache_(options_.statement_cache) {}

session::~session() { close("it was closed"); }

void session::close(std::string_view why, const char* words) noexcept {
  if (conn_ == nullptr) return;
  is_open_.store(false, std::memory_order_release);
  try {
    closed_why_ = why;
    if (words != nullptr) closed_why_ += ": " + trimmed(words);
  } catch (const std::bad_alloc&) {
    closed_why_.clear();
  }
  PQfinish(std::exchange(conn_, nullptr));
}

void session::check(std::uint64_t scope) const {  // postgres_statement/check
  if (stop_requested()) throw operation_cancelled(current_stop_reason());
  if (!is_open()) {
    throw error(errc::closed, why_closed());
  }
  if (scope_.load(std::memory_order_acquire) != scope)
    throw error(errc::in_use, "postgres: " + where_);
}

void session::fail_lost() {
  std::string text = trimmed(PQerrorMessage(conn_));
  server_words words;
  errc code = errc::connection_lost;
  if (failed_.get() != nullptr) {
    words = words_of(failed_.get());
    if (!words.sqlstate.empty()) {
      code = code_of(words.sqlstate);
      text = text_of(words);
    }
  }
  close("it broke: " + text);
  throw error(code == errc::failed ? errc::connection_lost : code,
              "postgres: " + where_ + ": " + text, std::move(words));
}

void session::check_sent(int sent) {
  if (sent == 1) return;
  if (PQstatus(conn_) != CONNECTION_OK) fail_lost();
  throw error(errc::bad_parameter, "postgres: not sent: " + trimmed(PQerrorMessage(conn_)));
}

void session::begin_answers() noexcept {
  answers_.clear();
  failed_ = rows();
  is_in_copy_ = false;
  was_cancelled_ = false;
}

bool session::take_answers() {
  while (PQisBusy(conn_) == 0) {
    rows next(PQgetResult(conn_));
    if (next.get() == nullptr) return true;
    switch (PQresultStatus(next.get())) {
      case PGRES_COPY_IN:
      case PGRES_COPY_OUT:
      case PGRES_COPY_BOTH:
        is_in_copy_ = true;
        copy_status_ = PQresultStatus(next.get());
        return true;
      case PGRES_BAD_RESPONSE:
      case PGRES_NONFATAL_ERROR:
      case PGRES_FATAL_ERROR:
        if (failed_.get() == nullptr) failed_ = std::move(next);
        break;
      default: answers_.push_back(std::move(next)); break;
    }
  }
  return false;
}

task<void> session::flush() {
  while (PQflush(conn_) == 1) {
    // postgres_statement/flush: the server may take no more before somebody reads what it sends.
    const native_descriptor socket = PQsocket(conn_);
    auto [first, ready] = co_await when_any(io::readable(socket), io::writable(socket));
    if (stop_requested()) throw operation_cancelled(current_stop_reason());
    auto& [can_read, can_write] = ready;
    if (!can_read.has_value() && !can_write.has_value()) can_write.value();  // throws
    (void)first;
    (void)PQconsumeInput(conn_);
  }
  // What cannot be sent any more is told by reading: the server may have said why.
}

task<void> session::collect() {  // postgres_statement/collect
  while (!take_answers()) {
    co_await io::readable(PQsocket(conn_));
    (void)PQconsumeInput(conn_);  // its failure is an answer, too
  }
}

task<void> session::flush_and_collect() {
  if (PQflush(conn_) == 1) co_await flush();
  while (!take_answers()) {
    co_await io::readable(PQsocket(conn_));
    (void)PQconsumeInput(conn_);
  }
}

void session::settle() {  // postgres_statement/settle
  if (PQstatus(conn_) != CONNECTION_OK) fail_lost();
  deliver_notices();
  if (failed_.get() != nullptr) throw failure_of(failed_.get());
}

rows session::take_last() {
  if (answers_.empty()) return rows();
  rows last = std::move(answers_.back());
  answers_.clear();
  return last;
}

namespace {

/// What libpq takes of the parameters: pointers, lengths, formats and types, on the stack if there are few.
class sent_parameters {
 public:
  explicit sent_parameters(const parameters& given) : count_(given.size()) {
    if (count_ > few) {
      many_values_.resize(count_);
      many_numbers_.resize(2 * count_);
      many_types_.resize(count_);
      values_ = many_values_.data();
      numbers_ = many_numbers_.data();
      types_ = many_types_.data();
    }
    constexpr Oid oid_of_bytes = 17;
    for (std::size_t i = 0; i < count_; ++i) {
      using kind = parameters::entry::kind;
      const parameters::entry& each = given.entries()[i];
      values_[i] = each.what == kind::null ? nullptr : given.room() + each.begin;
      numbers_[i] = static_cast<int>(each.length);
      numbers_[count_ + i] = each.what == kind::binary ? 1 : 0;
      types_[i] = each.what == kind::binary ? oid_of_bytes : 0;
    }
  }
  sent_parameters(const sent_parameters&) = delete;
  sent_parameters& operator=(const sent_parameters&) = delete;

  int count() const noexcept { return static_cast<int>(count_); }
  const char* const* values() const noexcept { return values_; }
  const int* lengths() const noexcept { return numbers_; }
  const int* formats() const noexcept { return numbers_ + count_; }
  const Oid* types() const noexcept { return types_; }

 private:
  static constexpr std::size_t few = 16;
  std::size_t count_;
  std::array<const char*, few> few_values_;
  std::array<int, 2 * few> few_numbers_;
  std::array<Oid, few> few_types_;
  std::vector<const char*> many_values_;
  std::vector<int> many_numbers_;
  std::vector<Oid> many_types_;
  const char** values_ = few_values_.data();
  int* numbers_ = few_numbers_.data();
  Oid* types_ = few_types_.data();
};

}  // namespace

int session::send(const command& what, const std::string& name, const parameters& given,
                  bool in_binary) {  // postgres_statement/send
  is_extended_ = true;
  const sent_parameters sent(given);
  const int format = in_binary ? 1 : 0;
  if (!name.empty()) {
    return PQsendQueryPrepared(conn_, name.c_str(), sent.count(), sent.values(), sent.lengths(),
                               sent.formats(), format);
  }
  const std::string& text = what.text();
  if (text.find('\0') != std::string::npos) {
    throw error(errc::bad_statement, "postgres: the statement has a zero byte");
  }
  return PQsendQueryParams(conn_, text.c_str(), sent.count(), sent.types(), sent.values(),
                           sent.lengths(), sent.formats(), format);
}

task<rows> session::query(std::uint64_t scope, command what, parameters given, bool in_binary) {
  const mutex_guard turn = co_await turn_.scoped_lock();
  if (has_leftover()) co_await clean_up();
  check(scope);
  std::string name = what.name();
  const bool may_cache = cache_.is_on() && name.empty() && !given.has_bytes();
  if (may_cache) name = co_await prepared_name(what.text());
  check_sent(send(what, name, given, in_binary));
  co_await exchange();
  if (may_cache && !name.empty() && may_ask_again(name)) {
    check_sent(send(what, std::string(), given, in_binary));
    co_await exchange();
  }
  if (is_in_copy_) {
    co_await end_leftover(copy_status_ == PGRES_COPY_IN ? leftover::copy_in : leftover::copy_out);
    throw error(errc::bad_statement, "postgres: COPY: use copy_in() or copy_out()");
  }
  settle();
  co_return take_last();
}

bool session::may_ask_again(const std::string& name) noexcept {
  if (failed_.get() == nullptr || PQstatus(conn_) != CONNECTION_OK) return false;
  const char* const state = PQresultErrorField(failed_.get(), PG_DIAG_SQLSTATE);
  const std::string_view code = state != nullptr ? state : "";
  // The tables have changed under the plan, or somebody has said DISCARD ALL.
  if (code != "0A000" && code != "26000") return false;
  cache_.forget(name);
  return PQtransactionStatus(conn_) == PQTRANS_IDLE;
}

task<std::string> session::prepared_name(const std::string& text) {
  statement_cache::entry* const known = cache_.find(text);
  if (known == nullptr) co_return std::string();
  if (!known->name.empty()) co_return known->name;
  if (PQtransactionStatus(conn_) == PQTRANS_INERROR) co_return std::string();
  for (const std::string& each : cache_.take_evicted()) {
    const std::string sql = "deallocate " + each;
    check_sent(PQsendQuery(conn_, sql.c_str()));
    co_await exchange();
  }
  const std::string name = "tandem_cached_" + std::to_string(++last_name_);
  std::string kept = name;
  co_await prepare_now(name, text);
  known->name = std::move(kept);
  co_return name;
}

task<void> session::prepare_now(const std::string& name, const std::string& text) {
  check_sent(PQsendPrepare(conn_, name.c_str(), text.c_str(), 0, nullptr));
  co_await exchange();
  settle();
}

task<statement> session::prepare(std::uint64_t scope, std::string sql, std::string name) {
  const mutex_guard turn = co_await turn_.scoped_lock();
  if (has_leftover()) co_await clean_up();
  check(scope);
  if (name.empty()) name = "tandem_" + std::to_string(++last_name_);
  if (sql.find('\0') != std::string::npos || name.find('\0') != std::string::npos) {
    throw error(errc::bad_statement, "postgres: the statement, or its name, has a zero byte");
  }
  co_await prepare_now(name, sql);
  co_return statement(std::move(name), std::move(sql));
}

task<std::vector<rows>> session::execute(std::uint64_t scope, std::string script) {
  const mutex_guard turn = co_await turn_.scoped_lock();
  if (has_leftover()) co_await clean_up();
  check(scope);
  if (script.find('\0') != std::string::npos) {
    throw error(errc::bad_statement, "postgres: the script has a zero byte");
  }
  is_extended_ = false;
  check_sent(PQsendQuery(conn_, script.c_str()));
  co_await exchange();
  if (is_in_copy_) {
    co_await end_leftover(copy_status_ == PGRES_COPY_IN ? leftover::copy_in : leftover::copy_out);
    throw error(errc::bad_statement, "postgres: COPY: use copy_in() or copy_out()");
  }
  settle();
  co_return std::exchange(answers_, {});
}

task<std::string> session::change_scope(std::uint64_t scope, std::string sql, std::uint64_t then) {
  const mutex_guard turn = co_await turn_.scoped_lock();
  if (has_leftover()) co_await clean_up();
  check(scope);
  check_sent(PQsendQuery(conn_, sql.c_str()));
  co_await exchange();
  settle();
  std::string tag(answers_.empty() ? std::string_view() : answers_.back().command());
  set_scope(then);
  co_return tag;
}

bool session::is_tidy() const noexcept {
  return is_open() && !has_leftover() && scope_.load(std::memory_order_acquire) == 0 &&
         PQtransactionStatus(conn_) == PQTRANS_IDLE;
}

bool session::still_answers() noexcept {
  if (!is_open()) return false;
  if (PQconsumeInput(conn_) != 0 && PQstatus(conn_) == CONNECTION_OK) {
    (void)PQisBusy(conn_);  // looks at what has come: nothing was asked, so an error is a notice
    if (!is_doomed_) return true;
  }
  close("it broke while nothing was under way", PQerrorMessage(conn_));
  return false;
}

task<bool> session::tidy_up() {
  const mutex_guard turn = co_await turn_.scoped_lock();
  if (has_leftover()) co_await clean_up();
  if (!is_open() || scope_.load(std::memory_order_acquire) != 0) co_return false;
  if (PQtransactionStatus(conn_) != PQTRANS_IDLE) {
    check_sent(PQsendQuery(conn_, "rollback"));
    co_await exchange();
    settle();
  }
  co_return PQtransactionStatus(conn_) == PQTRANS_IDLE;
}

}  // namespace tandem::inline v0::io::postgres::detail
