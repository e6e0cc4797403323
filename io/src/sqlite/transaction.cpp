// transaction.cpp: begin, statements and end of a transaction, each a hop.
// SPDX-License-Identifier: MIT
#include <memory>
#include <tandem/blocking.hpp>
#include <tandem/io/sqlite/errors.hpp>
#include <tandem/io/sqlite/transaction.hpp>
#include <tandem/shielded.hpp>
#include <utility>

#include "sqlite/call_mark.hpp"
#include "sqlite/hop.hpp"
#include "sqlite/stop_watch.hpp"
#include "sqlite/transaction_state.hpp"

namespace tandem::inline v0::io::sqlite {

namespace detail {

transaction_state::transaction_state(std::shared_ptr<core> of, mutex_guard turn)
    : of_(std::move(of)),
      turn_(std::move(turn)),
      mark_(std::make_shared<const call_mark>(*of_, call_mark::kind::transaction)) {}

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

task<void> transaction_state::run(access how, call_ref call) {
  refuse_within(*this);
  const mutex_guard alone = co_await one_at_a_time_.scoped_lock();
  if (!turn_) throw error(errc::transaction_ended, "the transaction has ended");
  if (how == access::inside) {
    const held_mark mark(std::make_shared<const call_mark>(*of_, call_mark::kind::inside, this));
    co_await hop_below(mark.get(), of_->writer(), access::inside, call);
  } else {
    co_await hop(of_->writer(), access::inside, call);
  }
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

call_marks mark_of(const begun_transaction& begun) { return begun->mark(); }

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
