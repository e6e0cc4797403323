// worker_loop.hpp: the life of a worker between two items: take, search, park. Protocol parking: runtime/src/crew/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <tandem/detail/frame_idle.hpp>
#include <tandem/detail/gathering.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/executor.hpp>

#include "crew/busy_word.hpp"
#include "crew/crew.hpp"
#include "crew/idle_workers.hpp"
#include "crew/lookout.hpp"
#include "crew/port_slot.hpp"
#include "crew/waker.hpp"
#include "sizing/control_slot.hpp"
#include "worker/work_order.hpp"

namespace tandem::inline v0::detail {

class worker_loop {
 public:
  worker_loop(executor& home, const pool_limits& limits, busy_word& word, idle_workers& idle,
              crew& threads, const worker_set& workers, const control_slot& control, waker& wakes,
              lookout& watch, const port_slot& port, work_order& order) noexcept
      : home_(home),
        limits_(limits),
        word_(word),
        idle_(idle),
        threads_(threads),
        workers_(workers),
        control_(control),
        waker_(wakes),
        lookout_(watch),
        port_(port),
        order_(order) {}
  worker_loop(const worker_loop&) = delete;
  worker_loop& operator=(const worker_loop&) = delete;

  /// Until its thread is to end.
  void run(worker& self) noexcept;
  /// One item, by its worker.
  static void execute(worker& self, thread_context& context, job* item,
                      std::uint32_t budget = await_budget) noexcept;
  /// Who waits until a worker has nothing to do (gathering).
  gathering_slot& gathered_by() noexcept { return gathered_by_; }

 private:
  bool begin_search() noexcept;
  void end_search(worker& self) noexcept;
  /// parking. @returns false if the thread is to end
  bool park(worker& self) noexcept;
  /// crew/step_back. Parks if too many are busy. @returns false if the thread is to end
  bool step_back(worker& self) noexcept;
  bool rest(worker& self) noexcept;
  /// lookout/look. @returns whether it has got up
  bool look_out(worker& self) noexcept;
  /// lookout/end, if it is the one.
  void end_lookout(worker& self) noexcept;
  /// After half a second. Whether no worker is busy.
  bool is_still_last(worker& self) noexcept;
  /// Until its signal says something else, or that time. @returns whether its port has something
  /// for it, or is to be left
  bool lie(worker& self, frame_idle& spell, std::int64_t until_ns) noexcept;
  bool lie_in_port(worker& self, frame_idle& spell, std::int64_t until_ns) noexcept;
  /// ports/spin. @returns whether something has come
  bool spin_in_port(worker& self, worker_port& port) noexcept;

  /// ports/look. @param runs_on it has other items @returns whether something has come
  bool look_into_port(worker& self, bool runs_on) noexcept;
  /// ports/lie_in. The right to wait there, if it is to be had.
  worker_port* enter_port() const noexcept;
  /// ports/get_up. It is awake: what has come is its own. @returns how much
  std::size_t take_from_port(worker& self, worker_port& port) noexcept;
  /// ports/get_up. What has come is for others.
  void leave_port(worker& self) noexcept;
  /// ports/no_room. Lies on, but on its signal, unless it has been told something.
  void move_out_of_port(worker& self) noexcept;

  executor& home_;
  const pool_limits& limits_;
  busy_word& word_;
  idle_workers& idle_;
  crew& threads_;
  const worker_set& workers_;
  const control_slot& control_;
  waker& waker_;
  lookout& lookout_;
  const port_slot& port_;
  work_order& order_;
  gathering_slot gathered_by_;
};

}  // namespace tandem::inline v0::detail
