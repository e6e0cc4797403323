// stream_pumps.cpp: tickets and places of pumps, and the task that their scope runs in.
// SPDX-License-Identifier: MIT
#include <tandem/detail/stream_pumps.hpp>

#include <tandem/errors.hpp>
#include <tandem/finally.hpp>

namespace tandem::inline v0::detail {

stream_pumps::stream_pumps(std::size_t count)
    : place_count_(count + 1),
      places_(std::make_unique<place[]>(count + 1)),
      running_(count),
      stopping_(stop_all(*this)) {
  if (count == 0) place_of(draw()).full.set();  // pumps/end
}

stream_pumps::~stream_pumps() {
  TANDEM_ASSERT(!stopping_ || !runs_, "a stream has ended while tasks still make its items");
}

void stream_pumps::put(std::uint64_t ticket, const void* item, event& taken) noexcept {
  place& at = place_of(ticket);
  at.item = const_cast<void*>(item);  // NOLINT: its type has the const
  at.taken = &taken;
  at.full.set();
}

void stream_pumps::put_failure(std::uint64_t ticket, std::exception_ptr failure) noexcept {
  place& at = place_of(ticket);
  at.item = nullptr;
  at.failure = std::move(failure);
  at.full.set();
}

void stream_pumps::pump_ends(std::exception_ptr failure) noexcept {
  // Acquire: pairs with stop_all. A pump that was stopped in between tells of that in vain.
  const bool was_stopped = is_closing_.load(std::memory_order_acquire);
  if (failure != nullptr) {
    if (!was_stopped) {
      put_failure(draw(), std::move(failure));
    } else if (!is_cancellation(failure)) {
      report_clean_up(failure);
    }
  }
  // acq_rel: the last one's ticket comes after those of all others.
  const bool is_last = running_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (is_last && !was_stopped) put_failure(draw(), nullptr);
}

void* stream_pumps::take() noexcept {
  place& at = place_of(next_++);
  at.full.reset();
  taken_ = at.taken;
  failure_ = std::exchange(at.failure, nullptr);
  return std::exchange(at.item, nullptr);
}

void stream_pumps::start(executor& home, std::vector<task<void>>&& pumps) {
  runs_ = spawn(home, run_in_scope(*this, std::move(pumps)));
}

task<void> stream_pumps::run_in_scope(stream_pumps& self, std::vector<task<void>> pumps) {
  std::exception_ptr failure;
  try {
    auto all = shielded(
        with_scope([&self, &pumps](task_scope& scope) { return run_body(self, pumps, scope); }));
    co_await wait_for(all);
    failure = all.await_failure();
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure == nullptr) co_return;
  // No memory for it: some pumps, or all, have not begun.
  self.put_failure(self.draw(), std::move(failure));
  self.begun_.set();
}

task<void> stream_pumps::run_body(stream_pumps& self, std::vector<task<void>>& pumps,
                                  task_scope& scope) {
  auto until_stopped = shielded(self.finished_.wait());
  std::exception_ptr failure;
  try {
    for (task<void>& each : pumps) scope.spawn(std::move(each));
  } catch (...) {
    failure = std::current_exception();
  }
  self.scope_ = &scope;
  self.begun_.set();
  if (failure != nullptr) self.put_failure(self.draw(), std::move(failure));
  co_await wait_for(until_stopped);
}

task<void> stream_pumps::stop_all(stream_pumps& self) {
  self.is_closing_.store(true, std::memory_order_release);  // pairs with pump_ends
  if (!self.runs_) co_return;
  co_await self.begun_.wait();
  if (self.scope_ != nullptr) self.scope_->request_stop(stop_reason::parent);
  self.finished_.set();
  auto joined = self.runs_.operator co_await();
  co_await wait_for(joined);
  (void)joined.await_failure();
  self.report_left();
}

void stream_pumps::report_left() noexcept {
  for (std::size_t i = 0; i < place_count_; ++i) {
    const std::exception_ptr failure = std::exchange(places_[i].failure, nullptr);
    if (failure != nullptr && !is_cancellation(failure)) report_clean_up(failure);
  }
}

}  // namespace tandem::inline v0::detail
