// worker_pool.cpp: the public face of the pool.
// SPDX-License-Identifier: MIT
#include <tandem/worker_pool.hpp>

#include <tandem/detail/forked.hpp>
#include <tandem/pool_view.hpp>

#include "pool/pool_stats.hpp"
#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0 {

worker_pool::worker_pool(tandem::runtime& owner, detail::pool_owner& answers,
                         const pool_options& options, detail::driven_loop* loop)
    : impl_(std::make_unique<impl>(*this, owner, answers, options, loop)) {}
worker_pool::~worker_pool() = default;

void worker_pool::post(job* item, post_kind kind) noexcept { impl_->post(item, kind); }
void worker_pool::post_batch(job_list items, post_kind kind) noexcept {
  impl_->post_batch(items, kind);
}
bool worker_pool::is_current() const noexcept { return impl_->is_current(); }
runtime* worker_pool::owner() const noexcept { return &impl_->owner; }
std::string_view worker_pool::name() const noexcept { return impl_->name; }
unsigned worker_pool::size() const noexcept { return impl_->limits.core(); }

worker_pool_stats worker_pool::stats() const {
  detail::refuse_if_forked(impl_->owner, "worker_pool::stats");
  return detail::stats_of(*impl_);
}
std::vector<pool_decision> worker_pool::decisions() const {
  detail::refuse_if_forked(impl_->owner, "worker_pool::decisions");
  return impl_->log.copy();
}
std::string worker_pool::describe() const {
  detail::refuse_if_forked(impl_->owner, "worker_pool::describe");
  return detail::description_of(*impl_);
}

void worker_pool::admit(detail::joinable_root& block, int priority) {
  impl_->desk.submit(block, priority);
}
bool worker_pool::prestart_core_thread() noexcept {
  if (detail::is_forked(impl_->owner) || !impl_->life.is_running()) return false;
  return impl_->waking.start_core_thread();
}
unsigned worker_pool::prestart_all_core_threads() noexcept {
  unsigned started = 0;
  while (prestart_core_thread()) ++started;
  return started;
}

void worker_pool::reconfigure(const pool_change& change) { impl_->changes.apply(change); }
pool_options worker_pool::options() const {
  detail::refuse_if_forked(impl_->owner, "worker_pool::options");
  return *impl_->settings_now.get();
}
pool_view worker_pool::view() noexcept { return pool_view(*this); }

pool_state worker_pool::state() const noexcept { return impl_->life.state(); }
void worker_pool::shutdown() noexcept { impl_->end.shutdown(); }
std::vector<unstarted_task> worker_pool::shutdown_now() { return impl_->end.shutdown_now(); }
bool worker_pool::await_termination(std::chrono::steady_clock::duration timeout) {
  return impl_->end.await_termination(timeout);
}
void worker_pool::stop() noexcept { impl_->end.stop(); }

int current_worker_index() noexcept {
  const detail::worker* const self = detail::this_thread().current_worker;
  return self != nullptr ? static_cast<int>(self->number) : -1;
}

namespace detail {

tandem::runtime& owner_of_pool(const worker_pool& pool) noexcept { return *pool.owner(); }
executor& executor_of_pool(worker_pool& pool) noexcept { return pool; }

}  // namespace detail

}  // namespace tandem::inline v0
