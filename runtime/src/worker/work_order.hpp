// work_order.hpp: what a worker runs next. README.md beside this has the order, and the protocol inbox.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <tandem/detail/injection_lane.hpp>
#include <tandem/job.hpp>

#include "crew/lookout.hpp"
#include "crew/waker.hpp"
#include "crew/worker_set.hpp"
#include "submit/submission_queue.hpp"

namespace tandem::inline v0::detail {

/// lanes/ripe. The time by which items are young: some two counts a nanosecond.
std::uint64_t lane_time() noexcept;

/// The queues of a pool, as its workers see them. What has a worker as its argument is that
/// worker's thread's alone.
class work_order {
 public:
  /// @param may_spin  a search goes on for a moment where nothing is found
  work_order(const worker_set& workers, submission_queue& submissions, waker& wakes,
             const lookout& watched, bool may_spin) noexcept
      : workers_(workers),
        submissions_(submissions),
        waker_(wakes),
        lookout_(watched),
        may_spin_(may_spin) {}
  work_order(const work_order&) = delete;
  work_order& operator=(const work_order&) = delete;

  /// Whether somebody without work may look again and again for a moment.
  bool may_spin() const noexcept { return may_spin_; }
  /// Its own lanes, what came from outside, and what was submitted; null if all are empty.
  job* next(worker& self) noexcept;
  /// The same, and what others have. It is counted as searching.
  job* search(worker& self) noexcept;
  /// fork_lane/expose, joins/give_way. @returns whether the joining worker has to serve another
  /// lane first
  bool look_after_lane(worker& self, lane_look why) noexcept;

  /// To the end of its FIFO.
  void push(worker& self, job* item) noexcept;
  /// All of them, in their order.
  void push(worker& self, job_list& items) noexcept;
  /// What it was roused or started with comes before what is queued.
  void take_handed(worker& self) noexcept;
  /// crew/region. It is about to block: what it holds is for others.
  void expose(worker& self) noexcept;
  /// crew/step_back. It is about to park: what it holds is for others.
  void hand_over_lanes(worker& self) noexcept;

  /// What was posted from outside. Also for statistics, which gather it.
  injection_lane& injection() const noexcept { return injection_; }
  bool anything_queued() const noexcept { return anything_waits(false); }
  /// parking/look, parking/pass_on. Whether anything waits that no lookout looks after.
  bool anything_to_wake_for() const noexcept {
    return anything_waits(lookout_.is_there());  // lookout/leave: that is read before the lanes
  }
  /// lookout/look. @param last  when it looked before; then it is now
  lookout_sight look_out(std::uint64_t& last) const noexcept;
  /// In the lanes of all workers.
  std::size_t in_lanes() const noexcept;
  /// In all queues.
  std::size_t queued() const noexcept {
    return injection_.size() + submissions_.size() + in_lanes();
  }

 private:
  /// @param leaves_young  to a lookout
  bool anything_waits(bool leaves_young) const noexcept;
  bool injected_waits() const noexcept { return !injection_.empty() || !submissions_.empty(); }
  /// fork_lane/expose, parking/expose, lookout/expose
  void expose_to_thieves(worker& self, bool all) noexcept;
  job* from_other_lanes(worker& self) noexcept;
  /// inbox/take. With an item, if its lane is empty, some of those behind it come along.
  job* take_injected(worker& self) noexcept;
  void choose_lot(worker& self) noexcept;
  job* take_submission(worker& self) noexcept;
  job* old_end(worker& self) noexcept;
  job* steal_round(worker& self) noexcept;
  void note_progress(worker& self) noexcept;
  job* steal_stuck_next(worker& self) noexcept;

  const worker_set& workers_;
  submission_queue& submissions_;
  waker& waker_;
  const lookout& lookout_;
  const bool may_spin_;
  mutable injection_lane injection_;
};

}  // namespace tandem::inline v0::detail
