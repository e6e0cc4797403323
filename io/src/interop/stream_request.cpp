// stream_request.cpp: the lane of requests. Protocol stream_requests: README.md beside this.
// SPDX-License-Identifier: MIT
#include <tandem/asio/detail/stream_request.hpp>

#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0::detail {

namespace {
void* waiting_mark() noexcept { return reinterpret_cast<void*>(std::uintptr_t{1}); }  // NOLINT
void* closed_mark() noexcept { return reinterpret_cast<void*>(std::uintptr_t{2}); }   // NOLINT
void* stopped_mark() noexcept { return reinterpret_cast<void*>(std::uintptr_t{3}); }  // NOLINT
}  // namespace

bool request_lane::next_awaiter::start(promise_base& waiting) noexcept {
  if (!begin(waiting)) return false;
  void* at_work = nullptr;
  lane_->waiting_ = this;
  // stream_requests/wait. acq_rel: release of waiting_ for ask(), acquire of the request.
  if (lane_->word_.compare_exchange_strong(at_work, waiting_mark(), std::memory_order_acq_rel)) {
    return true;
  }
  // stream_requests/stop came between: the mark goes, unless a request takes its place.
  if (at_work == stopped_mark() &&
      lane_->word_.compare_exchange_strong(at_work, nullptr, std::memory_order_acq_rel)) {
    set_cancelled();
  }
  if (!finish_unposted()) return true;  // the stopper resumes
  if (charge_ready_await()) return false;
  yield_for_budget(waiting);
  return true;
}

constinit const wait_kind request_lane::next_awaiter::waits_for_request(&next_awaiter::on_stop,
                                                                        "a request of Asio",
                                                                        wait_end::system);

bool request_lane::next_awaiter::on_stop(stop_waiter& stopped) noexcept {
  auto& self = static_cast<next_awaiter&>(static_cast<leaf&>(stopped));
  std::atomic<void*>& word = self.lane_->word_;
  void* seen = waiting_mark();
  // stream_requests/stop. acq_rel, as wait.
  while (!word.compare_exchange_strong(seen, seen == nullptr ? stopped_mark() : nullptr,
                                       std::memory_order_acq_rel)) {
    // With a request, its starter finishes this, or the task itself, which is about to wait.
    if (seen != nullptr && seen != waiting_mark()) return true;
  }
  if (seen == waiting_mark()) self.finish_stopped();
  return true;
}

request_lane::answer request_lane::ask(stream_request& asked) noexcept {
  void* seen = word_.load(std::memory_order_relaxed);  // the exchange looks again
  do {
    if (seen == closed_mark()) return answer::closed;
    if (seen != nullptr && seen != waiting_mark() && seen != stopped_mark()) return answer::busy;
    // stream_requests/ask. acq_rel: release of the request; acquire of waiting_.
  } while (!word_.compare_exchange_weak(seen, &asked, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  if (seen == waiting_mark()) waiting_->finish();
  return answer::taken;
}

stream_request* request_lane::close() noexcept {
  void* const last = word_.exchange(closed_mark(), std::memory_order_acq_rel);
  const bool is_request =
      last != nullptr && last != closed_mark() && last != waiting_mark() && last != stopped_mark();
  return is_request ? static_cast<stream_request*>(last) : nullptr;
}

stream_request* request_lane::take() noexcept {
  // acquire: pairs with ask().
  return static_cast<stream_request*>(word_.exchange(nullptr, std::memory_order_acquire));
}

}  // namespace tandem::inline v0::detail
