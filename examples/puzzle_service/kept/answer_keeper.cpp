// answer_keeper.cpp: the memory, the clerks and the writer.
// SPDX-License-Identifier: MIT
#include "answer_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <tandem/as_result.hpp>
#include <tandem/environment.hpp>
#include <tandem/errors.hpp>
#include <tandem/retry.hpp>
#include <tandem/shielded.hpp>
#include <tandem/stop.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <utility>

namespace service {

namespace {

/// In one line of bounded length: libraries end theirs with newlines.
std::string line_of(std::string text) {
  constexpr std::size_t longest = 300;
  for (char& each : text) {
    if (static_cast<unsigned char>(each) < ' ') each = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.substr(0, longest);
}

std::int64_t seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string reason_of(const std::exception_ptr& failure) {
  if (tandem::result<void>(failure).is_cancelled()) return "it does not answer";
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return line_of(error.what());
  } catch (...) {
    return "something went wrong";
  }
}

/// A question that was sent is let go on, though its asker has left: to have it ended costs a
/// database more than to answer it (PostgreSQL another connection, and a process for that).
tandem::task<std::optional<kept_answer>> find_in_peace(answer_store& store, std::string key,
                                                       std::chrono::milliseconds patience) {
  tandem::task<std::optional<kept_answer>> finding = store.find(std::move(key));
  co_return co_await tandem::shielded(tandem::with_timeout(patience, std::move(finding)));
}

tandem::retry_options delays_of(const keeper_options& options) {
  return tandem::retry_options()
      .attempts(std::numeric_limits<unsigned>::max())
      .initial_delay(options.first_delay)
      .max_delay(options.longest_delay)
      .jitter(tandem::retry_jitter::equal);
}

}  // namespace

answer_keeper::answer_keeper(std::unique_ptr<answer_store> store, keeper_options options)
    : store_(std::move(store)),
      options_(std::move(options)),
      errands_(options_.errands),
      recent_(options_.recent_answers, options_.recent_bytes),
      waiting_(options_.waiting_answers, options_.waiting_bytes) {
  if (!store_) return;
  state_.database = database_state::unknown;
  state_.where = store_->describe();
}

known_answer answer_keeper::recall(const question& asked) {
  const std::lock_guard guard(lock_);
  known_answer found = recent_.find(asked.key);
  if (!found || !asked.is_answered_by(*found)) return nullptr;
  ++state_.from_memory;
  return found;
}

void answer_keeper::keep(kept_answer answer) {
  if (!store_) return;
  const auto made = std::make_shared<const kept_answer>(std::move(answer));
  {
    const std::lock_guard guard(lock_);
    if (is_finishing_ || made->size_bytes() > options_.answer_bytes) {
      ++state_.given_up;
      return;
    }
    recent_.put(made);
    state_.given_up += waiting_.put(made);
  }
  changed_.set();
}

keeper_state answer_keeper::state() const {
  const std::lock_guard guard(lock_);
  keeper_state seen = state_;
  seen.waiting = waiting_.size();
  return seen;
}

// --- Asking ---

template <class T>
tandem::task<T> answer_keeper::ask(typename errand_for<T>::work what) {
  const asked_errand<T> asked(std::move(what));
  std::shared_ptr<errand> for_clerk = asked.shared();
  if (!errands_.try_send(std::move(for_clerk))) {
    throw store_unavailable("the database is asked too much at once: try again");
  }
  tandem::task<void> waiting = asked->wait();
  const auto outcome = co_await tandem::as_result(std::move(waiting));
  tandem::throw_if_stopped();
  if (!outcome) {
    const keeper_state seen = state();
    throw store_unavailable(seen.database == database_state::away
                                ? "the database is " + seen.in_words()
                                : "the database does not answer: try again");
  }
  co_return asked->take();
}

tandem::task<known_answer> answer_keeper::look_up(question asked) {
  if (!store_ || state().database == database_state::away) co_return nullptr;
  auto finding = ask<std::optional<kept_answer>>(
      [key = asked.key, patience = options_.patience](answer_store& store) {
        return find_in_peace(store, key, patience);
      });
  auto found = co_await tandem::as_result(std::move(finding));
  tandem::throw_if_stopped();
  if (!found || !found.value() || !asked.is_answered_by(*found.value())) co_return nullptr;
  const auto known = std::make_shared<const kept_answer>(std::move(*found.value()));
  note_lookup(known);
  co_return known;
}

tandem::task<kept_page> answer_keeper::list(kept_search wanted) {
  auto listing = ask<kept_page>(
      [wanted = std::move(wanted)](answer_store& store) { return store.list(wanted); });
  co_return co_await std::move(listing);
}

tandem::task<known_answer> answer_keeper::fetch(std::string key) {
  {
    const std::lock_guard guard(lock_);
    known_answer found = recent_.find(key);
    if (!found) found = waiting_.find(key);
    if (found) co_return found;
  }
  auto finding =
      ask<std::optional<kept_answer>>([key](answer_store& store) { return store.find(key); });
  std::optional<kept_answer> found = co_await std::move(finding);
  if (!found) co_return nullptr;
  co_return std::make_shared<const kept_answer>(std::move(*found));
}

void answer_keeper::note_lookup(const known_answer& found) {
  const std::lock_guard guard(lock_);
  ++state_.from_store;
  recent_.put(found);
}

tandem::task<void> answer_keeper::work() {
  tandem::name("asks the database");
  while (true) {
    const std::optional<std::shared_ptr<errand>> next = co_await errands_.receive();
    if (!next) co_return;
    co_await serve(**next);
    (*next)->hand_over();
    tandem::throw_if_stopped();
  }
}

/// Does not throw: the asker is waiting.
tandem::task<void> answer_keeper::serve(errand& asked) {
  const auto refusal = std::make_exception_ptr(store_unavailable("not asked"));
  const auto reached = co_await tandem::as_result(reached_.wait());
  if (!reached || state().database == database_state::away) co_return asked.refuse(refusal);
  if (!asked.is_wanted()) co_return;
  tandem::task<std::exception_ptr> running = asked.run(*store_, options_.patience);
  const std::exception_ptr failure = co_await std::move(running);
  if (failure && !tandem::stop_requested()) note_away(reason_of(failure));
}

// --- Writing ---

bool answer_keeper::must_prepare() const {
  const std::lock_guard guard(lock_);
  return !is_prepared_;
}

known_answer answer_keeper::next_to_write() const {
  const std::lock_guard guard(lock_);
  return waiting_.first();
}

void answer_keeper::note_there() {
  std::string told;
  {
    const std::lock_guard guard(lock_);
    is_prepared_ = true;
    if (state_.database == database_state::away) told = state_.where + " is there again";
    state_.database = database_state::there;
    state_.reason.clear();
  }
  reached_.set();
  tell(told);
}

void answer_keeper::note_away(const std::string& reason) {
  std::string told;
  {
    const std::lock_guard guard(lock_);
    is_prepared_ = false;
    if (state_.database != database_state::away) {
      state_.database = database_state::away;
      state_.away_since = seconds_now();
      told = fmt::format("{} is away, and tried again: {}", state_.where, reason);
    }
    state_.reason = reason;
  }
  reached_.set();
  changed_.set();
  tell(told);
}

void answer_keeper::tell(const std::string& line) const {
  if (!line.empty() && options_.log) options_.log(line);
}

tandem::task<void> answer_keeper::call_store(tandem::task<void> call) {
  auto outcome =
      co_await tandem::as_result(tandem::with_timeout(options_.patience, std::move(call)));
  if (outcome) co_return;
  tandem::throw_if_stopped();  // it has not failed: we were called off
  const std::exception_ptr failure = outcome.exception();
  note_away(reason_of(failure));
  std::rethrow_exception(failure);
}

tandem::task<void> answer_keeper::write_next() {
  if (must_prepare()) {
    {
      const std::lock_guard guard(lock_);
      ++state_.attempts;
    }
    tandem::task<void> preparing = call_store(store_->prepare());
    co_await std::move(preparing);
  }
  const known_answer next = next_to_write();
  if (!next) co_return note_there();
  tandem::task<void> keeping = call_store(store_->keep(next));
  const auto kept = co_await tandem::as_result(std::move(keeping));
  {
    const std::lock_guard guard(lock_);
    if (kept) {
      ++state_.kept;
      if (!waiting_.remove(next)) --state_.given_up;
    } else if (!kept.is_cancelled()) {  // a stop is nobody's fault: it stays the first one
      waiting_.put_last(next);
    }
  }
  if (!kept) std::rethrow_exception(kept.exception());
  note_there();
}

tandem::task<void> answer_keeper::write() {
  const auto attempt = [this] { return write_next(); };
  while (true) {
    changed_.reset();  // before the look: what comes after it sets it again
    if (must_prepare() || next_to_write()) {
      auto round = tandem::retry(attempt, delays_of(options_));
      const auto outcome =
          co_await tandem::as_result(tandem::with_stop(hurry_.get_token(), std::move(round)));
      tandem::throw_if_stopped();
      if (!outcome) break;  // hurry
      continue;
    }
    {
      const std::lock_guard guard(lock_);
      if (is_finishing_) co_return;
    }
    co_await changed_.wait();
  }
  while (next_to_write()) {
    tandem::task<void> last = write_next();
    const auto outcome = co_await tandem::as_result(std::move(last));
    tandem::throw_if_stopped();
    if (!outcome) co_return;
  }
}

tandem::task<void> answer_keeper::close_store() {
  co_await tandem::with_timeout(std::chrono::seconds(1), store_->close());
}

tandem::task<void> answer_keeper::run() {
  tandem::name("keeps answers");
  if (!store_) co_return;
  const auto desks = [this](tandem::task_scope& scope) -> tandem::task<void> {
    for (unsigned clerk = 0; clerk < options_.clerks; ++clerk) scope.spawn(work());
    co_await write();
    errands_.close();
    scope.request_stop();
  };
  const auto outcome = co_await tandem::as_result(tandem::with_scope(desks));
  errands_.close();
  while (const auto left = errands_.try_receive()) {
    (*left)->refuse(std::make_exception_ptr(store_unavailable("the service ends")));
    (*left)->hand_over();
  }
  tandem::task<void> closing = close_store();
  (void)co_await tandem::as_result(tandem::shielded(std::move(closing)));
  tandem::throw_if_stopped();
  if (!outcome) std::rethrow_exception(outcome.exception());
}

void answer_keeper::finish() {
  bool is_away = false;
  {
    const std::lock_guard guard(lock_);
    is_finishing_ = true;
    is_away = state_.database != database_state::there;
  }
  if (is_away) hurry_.request_stop();
  changed_.set();
}

}  // namespace service
