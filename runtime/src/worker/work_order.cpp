// work_order.cpp: the order of a worker's lanes, and how it searches.
// SPDX-License-Identifier: MIT
#include "worker/work_order.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include <tandem/detail/observing.hpp>

#include "observe/observed_segment.hpp"
#include "platform/fast_ticks.hpp"
#include "platform/spin_pause.hpp"

namespace tandem::inline v0::detail {

namespace {

// So often a worker takes what came from outside, or the old end of a lane of its own, first.
constexpr std::uint32_t fairness_interval = 61;
// So often in a row it runs what lies in its next slot.
constexpr std::uint32_t next_slot_limit = 3;
constexpr std::uint32_t attention_joins = 8;  // forked children between two served items
constexpr std::uint32_t most_in_lot = 16;     // inbox/lot
constexpr auto short_item = std::chrono::microseconds(5);
constexpr auto search_time =
    std::chrono::microseconds(15);  // before it parks, where other CPUs are idle

/// recording/write, records/names
void tell_of_steal(worker& self, const worker& victim, std::uint32_t moved) noexcept {
  if (is_recorded()) record_loop(trace_kind::steal, victim.number, moved);
  if (any_records()) note_stolen(self);
}

}  // namespace

std::uint64_t lane_time() noexcept {
  static const bool has_ticks = platform::has_ticks();
  if (has_ticks) [[likely]]
    return platform::fast_ticks();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()) * 2;
}

// In line: each group of children comes here.
TANDEM_ALWAYS_INLINE void work_order::expose_to_thieves(worker& self, bool all) noexcept {
  const exposure made = self.forks.look_after(all, lane_time);
  if (made == exposure::nothing) return;
  // lookout/expose: after the items are public.
  if (made == exposure::young && lookout_.is_there()) return;
  waker_.wake_one();
}

job* work_order::next(worker& self) noexcept {
  if (++self.tick % fairness_interval == 0) {
    if (job* item = old_end(self)) return item;
  }
  // Without forks the order of the lanes is the right one, whoever asks for attention. An item of
  // another lane that asks for attention itself (it yields) must not come twice in a row.
  const bool forks_turn = std::exchange(self.forks_turn, false) && self.forks.size() != 0;
  if (self.give_way || (!forks_turn && self.forks.size() != 0 &&
                        self.forks.attention.load(std::memory_order_relaxed))) {
    self.give_way = false;
    self.forks_turn = true;
    // What was posted before the flag was set is seen by the scan.
    expose_to_thieves(self, false);
    if (job* item = from_other_lanes(self)) {
      if (!self.fifo.empty() || injected_waits()) {
        self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
      }
      self.attention_pause = attention_joins;
      return item;
    }
  }
  if (job* item = self.forks.pop()) {
    self.runs_own_fork = true;
    return item;
  }
  return from_other_lanes(self);
}

bool work_order::look_after_lane(worker& self, lane_look why) noexcept {
  expose_to_thieves(self, why == lane_look::siblings);
  if (self.fifo.empty() && !injected_waits()) return false;
  self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
  if (why != lane_look::join) return false;
  if (self.attention_pause > 0) {
    --self.attention_pause;
    return false;
  }
  self.give_way = true;
  return true;
}

job* work_order::from_other_lanes(worker& self) noexcept {
  if (self.next_streak < next_slot_limit) {
    if (job* item = self.fifo.take_next()) {
      ++self.next_streak;
      return item;
    }
  }
  self.next_streak = 0;
  if (job* item = self.fifo.pop()) return item;
  if (job* item = take_injected(self)) return item;
  return self.fifo.take_next();
}

job* work_order::take_injected(worker& self) noexcept {
  // Thieves come to what lies in the lane, but only when they have nothing else: so long items are
  // taken one by one.
  const bool takes_lot = self.fifo.size() == 0;
  std::size_t left = 0;
  job* const item =
      injection_.pop_into(&self.fifo, takes_lot ? self.lot : 1, workers_.count(), left);
  if (item == nullptr) return take_submission(self);
  if (left > 0) {
    // Those that were posted behind it have asked for nobody's attention.
    self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
    if (takes_lot) choose_lot(self);
  }
  return item;
}

void work_order::choose_lot(worker& self) noexcept {
  // inbox/lot. By its pace since the last look, idle time included.
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t items = self.progress();
  const auto ran = static_cast<std::int64_t>(items - self.lot_items);
  const bool short_ones = now - self.lot_time < ran * std::chrono::nanoseconds(short_item).count();
  self.lot = short_ones ? std::min(self.lot * 2, most_in_lot) : 1;
  self.lot_time = now;
  self.lot_items = items;
}

job* work_order::old_end(worker& self) noexcept {
  const bool even = (self.tick / fairness_interval) % 2 == 0;
  if (!even) {
    // Else submissions would wait for ever behind what keeps coming from outside.
    if (job* item = take_submission(self)) return item;
  }
  if (job* item = take_injected(self)) return item;
  if (even) {
    if (job* item = self.forks.steal()) return item;
  }
  return self.fifo.pop();
}

job* work_order::search(worker& self) noexcept {
  note_progress(self);
  self.turn_item = 0;  // records/clock
  const auto until = std::chrono::steady_clock::now() + search_time;
  while (true) {
    if (job* item = steal_round(self)) return item;
    // ports/look. What comes by the port is waited for there.
    if (!may_spin_ || self.came_by_port != 0 || std::chrono::steady_clock::now() >= until) break;
    for (int i = 0; i < 16; ++i) platform::spin_pause();
  }
  return steal_stuck_next(self);
}

job* work_order::steal_round(worker& self) noexcept {
  if (job* item = take_injected(self)) return item;
  self.saw_young = false;
  const std::uint64_t now = lane_time();
  const unsigned count = workers_.count();
  const unsigned first = static_cast<unsigned>(self.next_random() % count);
  for (unsigned i = 0; i < count; ++i) {
    worker& victim = workers_[(first + i) % count];
    if (&victim == &self) continue;
    std::uint32_t moved = 0;
    job* item = victim.fifo.steal_half(self.fifo, moved);
    if (item == nullptr) {
      item = victim.forks.steal_ripe(now, self.saw_young);
      moved = 1;
    }
    if (item != nullptr) {
      self.saw_young = false;
      self.steals.add(moved);
      if (tasks_are_observed()) [[unlikely]]
        tell_of_steal(self, victim, moved);
      return item;
    }
  }
  return nullptr;
}

void work_order::note_progress(worker& self) noexcept {
  const unsigned count = workers_.count();
  self.watch_from = count <= worker::watched ? 0 : static_cast<unsigned>(self.random % count);
  for (unsigned i = 0; i < std::min(count, worker::watched); ++i) {
    self.items_at_search[i] = workers_[(self.watch_from + i) % count].progress();
  }
}

job* work_order::steal_stuck_next(worker& self) noexcept {
  // A next slot is taken only from a worker that has been in one segment for the whole search: else
  // two tasks that wake each other would be torn apart. If threads came or went meanwhile the
  // numbers are somebody else's, and at worst a pair is torn apart once.
  const unsigned count = workers_.count();
  for (unsigned i = 0; i < std::min(count, worker::watched); ++i) {
    worker& each = workers_[(self.watch_from + i) % count];
    if (&each == &self || each.progress() != self.items_at_search[i]) continue;
    if (job* item = each.fifo.take_next()) {
      self.steals.add();
      if (tasks_are_observed()) [[unlikely]]
        tell_of_steal(self, each, 1);
      return item;
    }
  }
  return nullptr;
}

bool work_order::anything_waits(bool leaves_young) const noexcept {
  if (injected_waits()) return true;
  const std::uint64_t now = leaves_young ? lane_time() : 0;
  for (const worker& each : workers_) {
    if (each.fifo.size() != 0) return true;
    if (!each.forks.empty() && !(leaves_young && each.forks.is_young(now))) return true;
  }
  return false;
}

lookout_sight work_order::look_out(std::uint64_t& last) const noexcept {
  const std::uint64_t now = lane_time();
  bool moves = false;
  for (const worker& each : workers_) {
    if (!each.forks.empty() && !each.forks.is_young(now)) return lookout_sight::ripe;
    moves = moves || static_cast<std::int64_t>(each.forks.born() - last) > 0;
  }
  last = now;
  return moves ? lookout_sight::young : lookout_sight::quiet;
}

job* work_order::take_submission(worker& self) noexcept {
  job* const item = submissions_.pop();
  if (item != nullptr && submissions_.has_more()) {
    // submissions/tell. Those behind it have asked for nobody's attention.
    self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
  }
  return item;
}

void work_order::take_handed(worker& self) noexcept {
  job* const item = std::exchange(self.handed, nullptr);
  if (item == nullptr) return;
  self.tick = 0;  // so that it comes before what is queued
  push(self, item);
}

void work_order::push(worker& self, job* item) noexcept {
  if (self.fifo.push(item)) return;
  job_list one;
  one.push_back(item);
  injection_.hand_over(one);
}

void work_order::push(worker& self, job_list& items) noexcept {
  self.fifo.push_some(items.size(), [&items] { return items.pop_front(); });
  if (!items.empty()) injection_.hand_over(items);
}

void work_order::expose(worker& self) noexcept {
  self.forks.expose_all();
  if (job* const next = self.fifo.take_next()) push(self, next);
}

void work_order::hand_over_lanes(worker& self) noexcept {
  self.forks.expose_all();
  job_list items;
  while (job* item = self.fifo.pop()) items.push_back(item);
  while (job* item = self.fifo.take_next()) items.push_back(item);
  // steal() also finds nothing where a thief was quicker: that does not say that nothing is left.
  while (!self.forks.empty()) {
    if (job* item = self.forks.steal()) items.push_back(item);
  }
  if (!items.empty()) injection_.hand_over(items);
}

std::size_t work_order::in_lanes() const noexcept {
  std::size_t sum = 0;
  for (const worker& each : workers_) {
    sum += each.fifo.size() + (each.fifo.has_next() ? 1 : 0) + each.forks.size();
  }
  return sum;
}

}  // namespace tandem::inline v0::detail
