// pipeline_core.cpp: sends and reads at the same time. Protocol postgres_pipeline: README.md.
// SPDX-License-Identifier: MIT
#include "postgres/pipeline_core.hpp"

#include <chrono>
#include <new>
#include <tandem/as_result.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/shielded.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_any.hpp>
#include <tandem/yield.hpp>
#include <utility>

#include "postgres/failure.hpp"

namespace tandem::inline v0::io::postgres::detail {

namespace {

/// So much is gathered before the system is called.
constexpr std::size_t gathered_bytes = std::size_t(32) * 1024;
/// So many answers are taken before those that wait for them go on.
constexpr std::size_t portion = 6;

}  // namespace

task<void> pipeline_core::begin() {
  const mutex_guard turn = co_await of_.turn().scoped_lock();
  if (of_.has_leftover()) co_await of_.clean_up();
  of_.check(outer_);
  if (PQenterPipelineMode(of_.handle()) != 1) {
    throw error(errc::in_use, "postgres: " + trimmed(PQerrorMessage(of_.handle())));
  }
  of_.set_scope(scope_);
  is_begun_ = true;
}

void pipeline_core::check_whole() const {
  if (is_broken_) throw error(errc::connection_lost, "postgres: " + lost_why_);
}

pipeline_core::entry pipeline_core::add(bool is_sync) {
  auto made = std::make_shared<pipeline_entry>(is_sync);
  made->number = ++sent_;
  unanswered_.push_back(made);
  return made;
}

void pipeline_core::take_back() noexcept {
  unanswered_.pop_back();
  --sent_;
}

pipeline_core::entry pipeline_core::send(const command& what, const parameters& given,
                                         bool& is_much) {
  if (stop_requested()) throw operation_cancelled(current_stop_reason());
  const guard locked(lock_);
  check_whole();
  entry made = add(false);  // postgres_pipeline/send: before it is sent, which needs memory, too
  try {
    if (of_.send(what, what.name(), given, false) != 1) {
      throw error(errc::bad_parameter,
                  "postgres: not sent: " + trimmed(PQerrorMessage(of_.handle())));
    }
  } catch (...) {
    take_back();
    throw;
  }
  unflushed_bytes_ += what.text().size() + given.bytes_held() + 64;
  is_much = unflushed_bytes_ >= gathered_bytes;
  if (unanswered_.size() == 1) work_.set();
  return made;
}

task<pipeline_core::entry> pipeline_core::sync() {
  entry made;
  {
    const guard locked(lock_);
    check_whole();
    made = add(true);
    if (PQpipelineSync(of_.handle()) != 1) {
      take_back();
      throw error(errc::connection_lost, "postgres: " + trimmed(PQerrorMessage(of_.handle())));
    }
    asked_for_ = sent_;
    work_.set();
  }
  co_await flush();
  co_return made;
}

task<void> pipeline_core::flush() {
  while (true) {
    native_descriptor socket = no_descriptor;
    {
      const guard locked(lock_);
      if (is_broken_) co_return;  // the answers tell
      if (PQflush(of_.handle()) != 1) {
        unflushed_bytes_ = 0;
        co_return;
      }
      socket = PQsocket(of_.handle());
    }
    // postgres_pipeline/flush: read_answers() reads meanwhile, or the server would stop, too.
    auto [first, ready] = co_await when_any(io::writable(socket), broken_.wait());
    if (stop_requested()) throw operation_cancelled(current_stop_reason());
    auto& [can_write, is_gone] = ready;
    if (first == 0 && !can_write.has_value()) can_write.value();  // throws
    (void)is_gone;
  }
}

task<void> pipeline_core::ask_for_answers(const pipeline_entry& waited) {
  {
    const guard locked(lock_);
    if (is_broken_ || asked_for_ >= waited.number) co_return;
    asked_for_ = sent_;  // postgres_pipeline/ask
    (void)PQsendFlushRequest(of_.handle());
  }
  co_await flush();
}

task<rows> pipeline_core::wait_for(entry waited) {
  if (!waited->done.is_set()) {
    co_await ask_for_answers(*waited);
    co_await waited->done.wait();
  }
  const guard locked(lock_);
  waited->is_taken = true;
  throw_failure(*waited);
  if (waited->is_aborted) throw error(errc::pipeline_aborted, "postgres");
  co_return std::move(waited->answer);
}

void pipeline_core::throw_failure(const pipeline_entry& of) const {
  if (of.failed.get() != nullptr) {
    error told = failure_of(of.failed.get());
    // What has no SQLSTATE is libpq's own: the connection is gone.
    if (!told.sqlstate().empty() || !is_broken_) throw told;
  } else if (!of.is_lost) {
    return;
  }
  throw error(errc::connection_lost, "postgres: " + lost_why_);
}

void pipeline_core::note_failure(const entry& failed) noexcept {
  (last_failure_ != nullptr ? last_failure_->next : first_failure_) = failed;
  last_failure_ = failed.get();
}

pipeline_entry* pipeline_core::take_broken() noexcept {
  if (!is_broken_) {
    is_broken_ = true;
    try {
      lost_why_ = trimmed(PQerrorMessage(of_.handle()));
    } catch (const std::bad_alloc&) {
      lost_why_.clear();
    }
    broken_.set();
  }
  pipeline_entry* const first = unanswered_.empty() ? nullptr : unanswered_.front().get();
  for (const entry& each : unanswered_) {
    each->is_lost = true;
    each->is_taken = each->is_sync;  // finish() looks at that
    note_failure(each);
  }
  unanswered_.clear();
  return first;
}

void pipeline_core::tell(pipeline_entry* first) noexcept {
  // Nothing is noted behind them any more, and the core, which has them, outlives this.
  for (pipeline_entry* each = first; each != nullptr; each = each->next.get()) each->done.set();
}

pipeline_core::left pipeline_core::take_answers(std::vector<entry>& ended, pipeline_entry*& lost) {
  PGconn* const conn = of_.handle();
  int empty = 0;  // in a row: between two statements there is one
  while (!unanswered_.empty() && PQisBusy(conn) == 0) {
    if (ended.size() == portion) return left::what_has_come;
    rows next(PQgetResult(conn));
    pipeline_entry& front = *unanswered_.front();
    bool has_ended = false;
    if (next.get() == nullptr) {
      has_ended = front.has_any;
      if (!has_ended && PQstatus(conn) != CONNECTION_OK) break;
      if (!has_ended && ++empty > 2) return left::what_will_come;
    } else {
      empty = 0;
      front.has_any = true;
      switch (PQresultStatus(next.get())) {
        case PGRES_PIPELINE_SYNC: has_ended = true; break;
        case PGRES_PIPELINE_ABORTED: front.is_aborted = true; break;
        case PGRES_COPY_IN:
        case PGRES_COPY_OUT:
        case PGRES_COPY_BOTH:
        case PGRES_BAD_RESPONSE:
        case PGRES_NONFATAL_ERROR:
        case PGRES_FATAL_ERROR:
          if (front.failed.get() == nullptr) front.failed = std::move(next);
          // postgres_pipeline/sync: libpq has no memory to say that it was answered.
          has_ended = front.is_sync;
          break;
        default: front.answer = std::move(next); break;
      }
    }
    if (!has_ended) continue;
    if (front.failed.get() != nullptr) note_failure(unanswered_.front());
    ended.push_back(std::move(unanswered_.front()));
    unanswered_.pop_front();
  }
  if (PQstatus(conn) != CONNECTION_OK) lost = take_broken();
  return unanswered_.empty() ? left::nothing : left::what_will_come;
}

pipeline_core::left pipeline_core::step(bool reads_first) {
  std::vector<entry> ended;
  ended.reserve(portion);
  pipeline_entry* lost = nullptr;
  left now = left::nothing;
  {
    const guard locked(lock_);
    if (reads_first && !is_broken_) (void)PQconsumeInput(of_.handle());
    now = take_answers(ended, lost);
    if (now == left::nothing && !is_over_) work_.reset();
  }
  for (const entry& each : ended) each->done.set();
  tell(lost);
  return now;
}

task<void> pipeline_core::read_answers() {  // postgres_pipeline/read
  bool has_waited = false;
  while (true) {
    co_await work_.wait();
    const left now = step(has_waited);
    has_waited = false;
    native_descriptor socket = no_descriptor;
    {
      const guard locked(lock_);
      if (is_broken_ || (is_over_ && unanswered_.empty())) co_return;
      socket = PQsocket(of_.handle());
    }
    if (now == left::what_has_come) {
      co_await yield();  // postgres_pipeline/portion
    } else if (now == left::what_will_come) {
      co_await io::readable(socket);
      has_waited = true;
    }
  }
}

task<void> pipeline_core::finish() {
  const entry last = co_await sync();  // postgres_pipeline/end
  co_await last->done.wait();
  {
    const guard locked(lock_);
    is_over_ = true;
    work_.set();
  }
  if (last->is_lost) throw error(errc::connection_lost, "postgres: " + lost_why_);
}

task<void> pipeline_core::drain() {
  left now = step(false);
  while (now != left::nothing) {
    const bool waits = now == left::what_will_come;
    if (waits) co_await io::readable(PQsocket(of_.handle()));
    now = step(waits);
  }
}

task<void> pipeline_core::cancel_and_drain() {
  if (outer_ == 0) {
    // postgres_pipeline/undo: else the sync would commit what has been done since the last one.
    const parameters none;
    const command undo("rollback");
    const guard locked(lock_);
    add(false);
    if (of_.send(undo, undo.name(), none, false) != 1) take_back();
  }
  {
    const guard locked(lock_);
    add(true);
    if (PQpipelineSync(of_.handle()) != 1) take_back();
  }
  // Both ways at once: there is no other task any more that reads.
  co_await of_.flush();
  std::chrono::milliseconds pause{100};
  while (true) {
    co_await of_.send_cancel();
    const result<void> ended = co_await as_result(with_timeout(pause, drain()));
    if (ended.has_value()) co_return;
    if (!ended.is_cancelled() || stop_requested()) std::rethrow_exception(ended.exception());
    pause *= 2;
  }
}

task<void> pipeline_core::wind_up() {
  if (!is_begun_) co_return;
  const mutex_guard turn = co_await of_.turn().scoped_lock();
  const bool is_done = is_over_ && unanswered_.empty();
  if (!is_done && !is_broken_) {
    (void)co_await as_result(
        shielded(with_timeout(of_.options().cancel_limit, cancel_and_drain())));
  }
  if (is_broken_ || !unanswered_.empty() || PQexitPipelineMode(of_.handle()) != 1) {
    end_broken(is_done ? "its pipeline did not end"
                       : "a pipeline was stopped, and its end was not confirmed in time");
  }
  is_begun_ = false;
  of_.set_scope(outer_);
}

void pipeline_core::end_broken(std::string_view why) noexcept {
  pipeline_entry* const lost = take_broken();
  of_.close(why, lost_why_.c_str());
  tell(lost);
}

void pipeline_core::abandon() noexcept {
  if (!is_begun_) return;
  end_broken("a pipeline was stopped, and memory ran out");
  is_begun_ = false;
  of_.set_scope(outer_);
}

pipeline_core::~pipeline_core() {
  // One by one: each would destroy the next one from inside of itself.
  for (entry each = std::move(first_failure_); each != nullptr;)
    each = entry(std::move(each->next));
}

void pipeline_core::conclude() {
  const guard locked(lock_);
  for (const pipeline_entry* each = first_failure_.get(); each != nullptr;
       each = each->next.get()) {
    if (each->is_taken) continue;
    throw_failure(*each);
  }
}

std::size_t pipeline_core::unanswered() const noexcept {
  const guard locked(lock_);
  return unanswered_.size();
}

}  // namespace tandem::inline v0::io::postgres::detail
