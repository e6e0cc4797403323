// reconfigure.cpp: a pool is changed while it runs. Protocol changes: runtime/src/pool/README.md.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include <tandem/detail/forked.hpp>
#include <tandem/pool_view.hpp>

#include "observe/task_observer.hpp"
#include "platform/platform.hpp"
#include "pool/worker_pool_impl.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

void worker_pool::reconfigure(const pool_change& change) { impl_->reconfigure(change); }
pool_options worker_pool::options() const {
  detail::refuse_if_forked(impl_->owner(), "worker_pool::options");
  return *impl_->settings();
}
pool_view worker_pool::view() noexcept { return pool_view(*this); }

std::shared_ptr<const pool_options> worker_pool::impl::settings() const noexcept {
  const std::lock_guard lock(settings_lock_);
  return settings_;
}

void worker_pool::impl::reconfigure(const pool_change& change) {
  detail::refuse_if_forked(owner_, "worker_pool::reconfigure");
  const visit here(*this);  // what it wakes may end the runtime
  // What they hold goes when all locks are open: it may be the user's, and call us.
  std::shared_ptr<const pool_options> now;
  std::shared_ptr<const pool_options> of_control;
  const std::lock_guard one_at_a_time(configuring_);
  const std::shared_ptr<const pool_options> before = settings();
  if (loop_ != nullptr && change.is_about_threads()) {
    throw std::logic_error(
        "worker_pool::reconfigure: this runtime has no threads (min_threads = 0, or a virtual "
        "clock): only when_saturated, on_rejected, on_terminated and timed_tasks_one_in can be "
        "changed");
  }
  now = std::make_shared<const pool_options>(change.applied_to(*before));
  runtime::impl& owner = owner_.implementation();
  std::unique_ptr<detail::task_observer> observer;
  if (!ended_ && owner.observer == nullptr && now->timed_tasks_one_in != 0) {
    observer = std::make_unique<detail::task_observer>(owner, *now);  // changes/timing
  }

  int room = 0;
  if (loop_ == nullptr && !ended_ && change.is_about_threads()) {
    // changes/control. All that may fail comes first.
    std::optional<detail::adaptive_controller> climb;
    if (change.adaptive || (now->is_adaptive() && !before->is_adaptive())) {
      climb.emplace(
          now->adaptive, now->min_threads,
          static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    }
    auto made = own_control_ != nullptr
                    ? nullptr
                    : std::make_unique<detail::pool_control>(*this, before, false);
    {
      const std::lock_guard lock(idle_lock_);
      workers_.make_room(now->most_threads());
      idle_stack_.reserve(std::max(idle_stack_.capacity(), std::size_t{now->most_threads()}));
      room = set_limits(*now);
      if (made != nullptr) {
        own_control_ = std::move(made);
        control_.store(own_control_.get(), std::memory_order_seq_cst);
      }
      tell_sleepers();
    }
    of_control = now;
    room += own_control_->reconfigure(of_control, std::move(climb));  // gives the old ones back
  }
  if (observer != nullptr) {
    owner.observer.fill(std::move(observer));
  } else if (owner.observer != nullptr) {
    owner.observer->time_one_in(now->timed_tasks_one_in);
  }
  policy_.store(now->submissions.when_saturated, std::memory_order_relaxed);
  {
    const std::lock_guard lock(settings_lock_);
    settings_.swap(now);
  }
  if (room != 0) change_target(room);  // crew/goal
  if (loop_ == nullptr) start_for_waiters();
}

int worker_pool::impl::set_limits(const pool_options& options) noexcept {
  // Relaxed, all: under the lock; whoever reads without it only looks.
  min_threads_.store(options.min_threads, std::memory_order_relaxed);
  stay_.store(options.allow_core_timeout ? 0 : options.min_threads, std::memory_order_relaxed);
  growth_.store(options.growth, std::memory_order_relaxed);
  keep_alive_.store(options.keep_alive, std::memory_order_relaxed);
  workers_.set_most(options.most_threads());
  const unsigned there = threads_.load(std::memory_order_relaxed);
  const bool bring = options.growth == growth_order::queue_first && there > options.min_threads;
  const unsigned brought = std::exchange(brought_, bring ? there - options.min_threads : 0);
  return static_cast<int>(brought_) - static_cast<int>(brought);
}

void worker_pool::impl::tell_sleepers() noexcept {
  // changes/look_again. Under idle_lock_, so nobody else takes one of them off the stack meanwhile.
  for (worker* const each : idle_stack_) {
    each->signal.store(worker::look_again, std::memory_order_release);  // pairs with rest()
    platform::wake_one(each->signal);
  }
}

void worker_pool::impl::start_for_waiters() noexcept {
  // Under queue_first nobody but a submission adds a thread above the core (submissions/order), and
  // those that wait to submit have done so already.
  if (growth() != growth_order::queue_first) return;
  for (std::size_t count = submissions_.waiting(); count > 0; --count) {
    const std::lock_guard lock(idle_lock_);
    if (stopping_ || !start_thread(workers_.most(), nullptr)) return;
  }
}

}  // namespace tandem::inline v0
