// blocking.cpp: awaiting a blocking call, and the public face of the pool.
// SPDX-License-Identifier: MIT
#include <tandem/blocking.hpp>

#include <exception>
#include <utility>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>

#include "blocking/blocking_pool.hpp"

namespace tandem::inline v0 {

blocking_pool::blocking_pool(runtime& owner)
    : impl_(std::make_unique<impl>(owner, owner.options().blocking)) {}
blocking_pool::~blocking_pool() = default;

blocking_stats blocking_pool::stats() const { return impl_->stats(); }
std::string_view blocking_pool::service_name() const noexcept { return "blocking pool"; }
void blocking_pool::stop() noexcept { impl_->stop(); }
void blocking_pool::append_metrics(std::vector<metric_family>& out) const {
  const blocking_stats now = stats();
  out.emplace_back("tandem_blocking_threads", "Threads for blocking() that are alive.",
                   metric_kind::gauge, now.threads);
  out.emplace_back("tandem_blocking_threads_idle", "Threads for blocking() without a call.",
                   metric_kind::gauge, now.idle);
  out.emplace_back("tandem_blocking_queue_length", "Calls that wait for a thread.",
                   metric_kind::gauge, static_cast<double>(now.queued));
  out.emplace_back("tandem_blocking_calls_total", "Calls that have ended.", metric_kind::counter,
                   static_cast<double>(now.run));
}

namespace detail {

bool blocking_request::start(promise_base& waiting, outcome_base& result) noexcept {
  set_waiting(waiting);
  result_ = &result;
  tandem::runtime& owner = *waiting.env->runtime();
  try {
    refuse_if_forked(owner, "tandem::blocking");
    pool_ = &owner.use_service<blocking_pool>();
  } catch (...) {
    result.error = std::current_exception();
    return false;
  }
  if (!begin(waiting)) return false;  // blocking_calls/publish
  // Released when the task goes on: from the queueing to there a virtual clock sees nothing of it.
  held_clock_ = &owner;
  hold_clock(owner);
  blocking_pool::impl& pool = pool_->implementation();
  switch (pool.enqueue(*this)) {
    case blocking_pool::impl::admission::queued: return true;
    case blocking_pool::impl::admission::stopped: set_cancelled(); break;
    case blocking_pool::impl::admission::full: result.error = pool.too_many(); break;
  }
  return !finish_unposted();
}

void blocking_request::resumed() {
  if (held_clock_ != nullptr) release_clock(*held_clock_);
  throw_if_cancelled();
}

bool blocking_request::on_stop(stop_waiter& self) noexcept {
  auto& request = static_cast<blocking_request&>(self);
  if (request.pool_->implementation().remove(request)) request.finish_stopped();
  return true;
}

}  // namespace detail

}  // namespace tandem::inline v0
