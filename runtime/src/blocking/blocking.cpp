// blocking.cpp: the public face of the pool of threads that may block.
// SPDX-License-Identifier: MIT
#include <tandem/blocking.hpp>

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

}  // namespace tandem::inline v0
