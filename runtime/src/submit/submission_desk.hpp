// submission_desk.hpp: how a pool takes a submission. Protocol submissions: README.md beside this.
// SPDX-License-Identifier: MIT
#pragma once

#include <source_location>
#include <string>

#include <tandem/detail/submit_waiter.hpp>
#include <tandem/detail/timer_service.hpp>
#include <tandem/rejected.hpp>
#include <tandem/worker_pool.hpp>

#include "crew/busy_word.hpp"
#include "crew/crew.hpp"
#include "crew/pool_limits.hpp"
#include "crew/visitors.hpp"
#include "crew/waker.hpp"
#include "crew/worker_set.hpp"
#include "submit/pool_life.hpp"
#include "submit/submission_queue.hpp"

namespace tandem::inline v0::detail {

class saturation;

class submission_desk {
 public:
  using answer = submission_queue::answer;

  /// What it needs of the pool, which outlives it.
  struct parts {
    worker_pool::impl& pool;  // to know its workers by
    tandem::runtime& owner;
    const std::string& name;
    timer_driver* const loop;  // null: the workers have threads
    visitors& visiting;
    const pool_life& life;
    const pool_limits& limits;
    const busy_word& word;
    const worker_set& workers;
    const crew& threads;
    waker& waking;
    submission_queue& submissions;
    saturation& saturated;
  };
  explicit submission_desk(const parts& pool) noexcept : pool_(pool) {}
  submission_desk(const submission_desk&) = delete;
  submission_desk& operator=(const submission_desk&) = delete;

  /// @throws  as worker_pool::submit()
  void submit(joinable_root& block, int priority);
  /// submissions/read_state, and then what the order of growth says. The block is launched,
  /// unposted. @throws std::bad_alloc (priority queues)
  answer try_admit(joinable_root& block, int priority);
  /// While it lives whoever submits may be inside. parking/visit
  visit come_in() noexcept { return visit(pool_.pool, pool_.visiting); }
  /// submissions/wait. @returns whether `waiter` waits now
  bool enter_or_wait(submit_waiter& waiter) noexcept;
  /// submissions/wait, from on_stop. @returns whether the waiter was taken out, or will not enter
  bool stop_waiting(submit_waiter& waiter) noexcept {
    return pool_.submissions.stop_waiting(waiter);
  }
  /// submissions/leave. A removed submission leaves its place. @returns false if it has none any
  /// more: a worker has it
  bool leave_queue(joinable_root& block) noexcept;
  /// Something has entered. @param alone nothing else was there: whoever is in a long recursion has
  /// to hear of it, too
  void announce(bool alone) noexcept;
  rejection rejection_of(rejection_cause cause, const std::source_location& where,
                         int priority) const;

 private:
  /// submissions/hand_over. To a parked worker, or to a new thread. @returns false if there is none
  bool give_by_hand(job& item, growth_order order) noexcept;
  /// submissions/oldest_by_hand. Makes a place. @returns false if nobody is parked
  bool hand_oldest_to_idle() noexcept;

  const parts pool_;
};

/// Of the pool, which has one.
submission_desk& desk_of(worker_pool& pool) noexcept;

}  // namespace tandem::inline v0::detail
