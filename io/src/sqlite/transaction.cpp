// transaction.cpp: begin, statements and end of a transaction, each a hop.
// SPDX-License-Identifier: MIT
#include <memory>
#include <tandem/blocking.hpp>
#include <tandem/io/sqlite/errors.hpp>
#include <tandem/io/sqlite/transaction.hpp>
#include <tandem/shielded.hpp>
#include <utility>

#include "sqlite/hop.hpp"
#include "sqlite/stop_watch.hpp"
#include "sqlite/transaction_state.hpp"
#include "sqlite/writer_mark.hpp"

namespace tandem::inline v0::io::sqlite {

namespace detail {

const context_local<writer_marks>& writers() noexcept {
  static const context_local<writer_marks> only;
  return only;
}

bool is_held_around(const core& of) noexcept {
  for (const writer_mark* each = writers().get().get(); each != nullptr; each = each->outer()) {
    if (each->of() == &of && each->is_held()) return true;
  }
  return false;
}

transaction_state::transaction_state(std::shared_ptr<core> of, mutex_guard turn)
    : of_(std::move(of)),
      turn_(std::move(turn)),
      mark_(std::make_shared<const writer_mark>(*of_, writers().get())) {}

transaction_state::~transaction_state() { end_here(); }

void transaction_state::end_here() noexcept {
  if (turn_) of_->writer().roll_back();
  let_go();
}

void transaction_state::let_go() noexcept {
  mark_->let_go();
  turn_.unlock();
}

task<void> transaction_state::begin() {
  auto work = [this] {
    connection& on = of_->writer();
    const stop_watch watch(on);
    on.begin_writing();
  };
  co_await blocking(work);
}

task<void> transaction_state::run(access, call_ref call) {
  const mutex_guard alone = co_await one_at_a_time_.scoped_lock();
  if (!turn_) throw error(errc::transaction_ended, "the transaction has ended");
  auto work = [this, call] { (void)run_on(of_->writer(), access::inside, call); };
  co_await blocking(work);
}

task<void> transaction_state::commit() {
  // sqlite_calls/commit: what this answers is what has become of it, whatever was stopped.
  const mutex_guard alone = co_await one_at_a_time_.scoped_lock();
  auto work = [this] {
    connection& on = of_->writer();
    const stop_watch watch(on);
    on.commit();
  };
  co_await blocking(work);
  let_go();
}

task<void> transaction_state::roll_back() {
  const mutex_guard alone = co_await one_at_a_time_.scoped_lock();
  auto work = [this] { of_->writer().roll_back(); };
  co_await blocking(work);
  let_go();
}

task<begun_transaction> begin(std::shared_ptr<core> of) {
  if (of == nullptr) moved_from();
  mutex_guard turn = co_await of->take_writer();
  auto begun = std::make_shared<transaction_state>(std::move(of), std::move(turn));
  co_await begun->begin();
  co_return begun;
}

writer_marks mark_of(const begun_transaction& begun) { return begun->mark(); }

task<void> commit(begun_transaction begun) {
  result<> ended = co_await as_result(begun->commit());
  if (ended.has_value()) co_return;
  co_await roll_back(begun);
  ended.value();
}

task<void> roll_back(begun_transaction begun) {
  const result<> ended = co_await as_result(shielded(begun->roll_back()));
  if (!ended.has_value()) begun->end_here();  // sqlite_calls/roll_back: no thread is to be had
}

}  // namespace detail

transaction::transaction(detail::begun_transaction begun) noexcept : calls(std::move(begun)) {}
transaction::~transaction() = default;

}  // namespace tandem::inline v0::io::sqlite
