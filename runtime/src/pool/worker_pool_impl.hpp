// worker_pool_impl.hpp: the parts of a worker pool, put together. What each is for: README.md beside this.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <tandem/detail/decision_log.hpp>
#include <tandem/worker_pool.hpp>

#include "crew/busy_word.hpp"
#include "crew/crew.hpp"
#include "crew/idle_workers.hpp"
#include "crew/lookout.hpp"
#include "crew/pool_limits.hpp"
#include "crew/pool_settings.hpp"
#include "crew/port_slot.hpp"
#include "crew/visitors.hpp"
#include "crew/waker.hpp"
#include "crew/worker.hpp"
#include "crew/worker_set.hpp"
#include "pool/pool_changes.hpp"
#include "pool/pool_end.hpp"
#include "pool/pool_owner.hpp"
#include "sizing/control_slot.hpp"
#include "sizing/controlled_pool.hpp"
#include "submit/pool_life.hpp"
#include "submit/saturation.hpp"
#include "submit/submission_desk.hpp"
#include "submit/submission_queue.hpp"
#include "worker/driven_loop.hpp"
#include "worker/driven_workers.hpp"
#include "worker/work_order.hpp"
#include "worker/worker_loop.hpp"

namespace tandem::inline v0 {

class worker_pool::impl final : private detail::crew_owner, private detail::controlled_pool {
 public:
  /// @param options  checked
  /// @param loop     null: the workers have threads; else they are logical ones that it drives
  impl(worker_pool& pool, tandem::runtime& owner, detail::pool_owner& answers,
       const pool_options& options, detail::driven_loop* loop);
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  void post(job* item, post_kind kind) noexcept;
  void post_batch(job_list items, post_kind kind) noexcept;
  bool is_current() const noexcept { return detail::current_worker_of(*this) != nullptr; }
  void change_target(int by) noexcept override;
  bool follow_machine(unsigned cpus) noexcept override { return changes.follow_machine(cpus); }
  /// Whether as many workers as may be run or look for work.
  bool all_awake() const noexcept {
    return loop == nullptr && word.now().room() <= 0;  // gathering/enter
  }
  /// How many workers may be busy.
  unsigned goal() const noexcept;
  void note(pool_action action, decision_reason reason, unsigned old_goal, unsigned new_goal,
            double throughput, double cpu) noexcept override;
  /// @param decides  as for pool_control. @throws std::bad_alloc
  std::unique_ptr<detail::pool_control> make_control(
      const std::shared_ptr<const pool_options>& options, bool decides);

  worker_pool& pool;
  tandem::runtime& owner;
  detail::pool_owner& answers;  // the same, asked for what it alone knows
  const std::string name;
  detail::driven_loop* const loop;  // null: the workers have threads
  const std::chrono::steady_clock::time_point born = std::chrono::steady_clock::now();
  detail::decision_log log;

  // What it is set to, and which state it is in.
  detail::pool_settings settings_now;
  detail::pool_limits limits;
  detail::pool_life life;
  detail::visitors visiting;

  // Who is there, and who sleeps.
  detail::busy_word word;
  detail::idle_workers idle;
  detail::worker_set workers;
  detail::control_slot control;
  detail::crew threads;
  detail::waker waking;
  detail::lookout watched;
  detail::port_slot port;

  // What waits, and what runs next.
  detail::submission_queue submissions;
  detail::work_order order;
  detail::worker_loop working;
  detail::driven_workers driven;

  // What users ask of it.
  detail::submission_desk desk;
  detail::saturation saturated;
  detail::pool_changes changes;
  detail::pool_end end;

 private:
  void run(detail::worker& self) noexcept override { working.run(self); }
  bool anything_queued() const noexcept override { return order.anything_queued(); }
  std::size_t queued() const noexcept override { return order.queued(); }
  void wake_one() noexcept override { waking.wake_one(); }
  decision_reason thread_started(bool for_full_queue) noexcept override;
  void thread_retired(decision_reason why) noexcept override;
  void last_one_left() noexcept override { end.terminate(); }
  void workers_are_idle() noexcept override { answers.workers_are_idle(); }
  void suppressed(const std::exception_ptr& failure) noexcept override;
  std::shared_ptr<const pool_options> settings() const noexcept override {
    return settings_now.get();
  }

  /// parking/post, parking/wake, parking/visit. The chain, by `next`, from the newest to the
  /// oldest.
  void inject(job* newest, job* oldest) noexcept;
  void post_local(detail::worker& self, job* item, post_kind kind) noexcept;
};

}  // namespace tandem::inline v0
