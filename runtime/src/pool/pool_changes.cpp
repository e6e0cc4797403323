// pool_changes.cpp: all that may fail comes first, then everything changes.
// SPDX-License-Identifier: MIT
#include "pool/pool_changes.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <tandem/detail/forked.hpp>

#include "observe/task_observer.hpp"
#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0::detail {

void pool_changes::apply(const pool_change& change) {
  refuse_if_forked(pool_.owner, "worker_pool::reconfigure");
  const visit here(pool_, pool_.visiting);  // what it wakes may end the runtime
  // What they hold goes when all locks are open: it may be the user's, and call us.
  std::shared_ptr<const pool_options> now;
  std::shared_ptr<const pool_options> of_control;
  const std::lock_guard one_at_a_time(configuring_);
  const std::shared_ptr<const pool_options> before = pool_.settings_now.get();
  const bool has_threads = pool_.threads.has_threads();
  if (!has_threads && change.is_about_threads()) {
    throw std::logic_error(
        "worker_pool::reconfigure: this runtime has no threads (min_threads = 0, or a virtual "
        "clock): only when_saturated, on_rejected, on_terminated, timed_tasks_one_in and "
        "count_tasks_by_name can be changed");
  }
  now = std::make_shared<const pool_options>(change.applied_to(*before));
  observer_slot& observers = pool_.answers.observers();
  std::unique_ptr<task_observer> observer;
  const bool asks = now->timed_tasks_one_in != 0 || now->count_tasks_by_name;
  if (observers != nullptr && now->count_tasks_by_name) observers->make_names();
  if (!ended_ && observers == nullptr && asks) {
    observer = std::make_unique<task_observer>(
        pool_.owner, pool_.pool, *now,
        pool_.loop == nullptr || !pool_.loop->is_virtual());  // changes/timing
  }

  int room = 0;
  if (has_threads && !ended_ && change.is_about_threads()) {
    of_control = now;
    const bool climbs_anew = change.adaptive || (now->is_adaptive() && !before->is_adaptive());
    room = change_threads(before, of_control, climbs_anew);
  }
  if (observer != nullptr) {
    observers.fill(std::move(observer));
  } else if (observers != nullptr) {
    observers->time_one_in(now->timed_tasks_one_in);
    observers->count_by_name(now->count_tasks_by_name);
  }
  pool_.saturated.set_policy(now->submissions.when_saturated);
  pool_.settings_now.exchange(now);
  if (room != 0) pool_.change_target(room);  // crew/goal
  if (has_threads) start_for_waiters();
}

void pool_changes::make_observer() {
  const std::lock_guard one_at_a_time(configuring_);
  observer_slot& observers = pool_.answers.observers();
  if (ended_ || observers != nullptr) return;
  observers.fill(
      std::make_unique<task_observer>(pool_.owner, pool_.pool, *pool_.settings_now.get(),
                                      pool_.loop == nullptr || !pool_.loop->is_virtual()));
}

int pool_changes::change_threads(const std::shared_ptr<const pool_options>& before,
                                 std::shared_ptr<const pool_options>& now, bool climbs_anew,
                                 bool begins_with_least) {
  // changes/control. All that may fail comes first.
  const pool_options& wanted = *now;
  std::optional<adaptive_controller> climb;
  if (climbs_anew) {
    climb.emplace(
        wanted.adaptive, wanted.min_threads,
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  }
  auto made = pool_.control.get() != nullptr ? nullptr : pool_.make_control(before, false);
  int room = 0;
  {
    const std::lock_guard lock(pool_.idle.lock());
    pool_.workers.make_room(wanted.most_threads());
    pool_.idle.make_room(wanted.most_threads());
    // changes/limits
    pool_.limits.set(wanted);
    pool_.workers.set_most(wanted.most_threads());
    room = pool_.threads.count_brought_anew(wanted);
    if (made != nullptr) pool_.control.fill(std::move(made));
    pool_.idle.look_again();
  }
  // Gives the old ones back.
  return room + pool_.control.get()->reconfigure(now, std::move(climb), begins_with_least);
}

bool pool_changes::follow_machine(unsigned cpus) noexcept {
  std::shared_ptr<const pool_options> now;
  std::shared_ptr<const pool_options> of_control;
  const std::unique_lock one_at_a_time(configuring_, std::try_to_lock);
  if (!one_at_a_time) return false;
  const std::shared_ptr<const pool_options> before = pool_.settings_now.get();
  if (ended_ || !before->follows_machine()) return true;
  int room = 0;
  try {
    pool_options wanted = *before;
    wanted.follow_machine(cpus);
    if (wanted.min_threads == before->min_threads) return true;
    const bool are_fewer = wanted.min_threads < before->min_threads;
    now = std::make_shared<const pool_options>(std::move(wanted));
    of_control = now;
    // Where there are more, what the climb has found is still right.
    room = change_threads(before, of_control, are_fewer, are_fewer);
  } catch (...) {  // a copy of a user's function may throw anything
    return false;
  }
  pool_.settings_now.exchange(now);
  if (room != 0) pool_.change_target(room);  // crew/goal
  return true;
}

void pool_changes::start_for_waiters() noexcept {
  // Under queue_first nobody but a submission adds a thread above the core (submissions/own_room),
  // and those that wait to submit have done so already.
  if (pool_.limits.growth() != growth_order::queue_first) return;
  for (std::size_t count = pool_.submissions.waiting(); count > 0; --count) {
    if (!pool_.waking.start_searcher(pool_.workers.most())) return;
  }
}

void pool_changes::end() noexcept {
  const std::lock_guard last_change(configuring_);
  ended_ = true;
  if (pool_control* const watching = pool_.control.get()) watching->stop();
}

}  // namespace tandem::inline v0::detail
