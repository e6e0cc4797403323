// engine_lane.hpp: what an engine has of the tasks that any completion thread may run.
// SPDX-License-Identifier: MIT
//
// Its lane, which others may take from, and what it has reaped but not published yet. Protocol
// stealable: README.md beside this.
#pragma once

#include <cstdint>
#include <tandem/detail/fifo_lane.hpp>
#include <tandem/detail/own_counter.hpp>
#include <tandem/executor.hpp>

#include "ring/ring_sleep.hpp"

namespace tandem::inline v0::io {

class stealable_executor;

class engine_lane {
 public:
  /// @param index  of its engine
  engine_lane(stealable_executor& shared, ring_sleep& sleep, unsigned index) noexcept
      : shared_(shared), sleep_(sleep), index_(index) {}
  engine_lane(const engine_lane&) = delete;
  engine_lane& operator=(const engine_lane&) = delete;

  // Any thread.
  stealable_executor& shared() const noexcept { return shared_; }
  ring_sleep& sleep() const noexcept { return sleep_; }
  unsigned index() const noexcept { return index_; }
  /// stealable/take: what others may steal.
  tandem::detail::fifo_lane& open_part() noexcept { return lane_; }
  const tandem::detail::fifo_lane& open_part() const noexcept { return lane_; }
  /// Tasks that it took from others.
  std::uint64_t stolen() const noexcept { return stolen_.read(); }

  // The engine.
  /// Where others may take it. It holds the clock.
  void publish(job* item) noexcept;
  /// readiness/leave. Nobody may take it before the backend is done with the batch.
  void add_reaped(job* item) noexcept { reaped_.push_back(item); }
  /// stealable/publish. The whole batch is there for others before the first of it runs.
  void publish_reaped() noexcept;
  /// What it runs next, or null.
  job* take() noexcept;
  bool empty() const noexcept { return first_ == nullptr && lane_.empty(); }
  /// stealable/take. @returns whether it has got anything. pre: empty
  bool steal() noexcept;
  /// stealable/call. What was posted from outside; and if it was called to search, it searches.
  /// @param has_jobs  whether it has something to run anyhow
  void look_outside(bool has_jobs) noexcept;
  /// moving/leave. Others run what is left.
  void give_away() noexcept;
  /// At its end: called to search at the last moment, it lets another one be called.
  void end() noexcept;

 private:
  stealable_executor& shared_;
  ring_sleep& sleep_;
  const unsigned index_;
  job* first_ = nullptr;  // stealable/take: runs before the lane
  job_list reaped_;       // stealable/publish: to be published
  tandem::detail::own_counter stolen_;
  alignas(64) tandem::detail::fifo_lane lane_;  // stealable/publish
};

}  // namespace tandem::inline v0::io
