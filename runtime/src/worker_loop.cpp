// worker_loop.cpp: what a worker does: take, search, park.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <utility>

#include <tandem/detail/forked.hpp>

#include "platform.hpp"
#include "worker_pool_impl.hpp"

namespace tandem::inline v0 {

namespace {

constexpr std::uint32_t fairness_interval = 61;  // D9
constexpr std::uint32_t next_slot_limit = 3;     // D9
constexpr std::uint32_t attention_joins = 8;     // forked children between two served items
constexpr auto search_time = std::chrono::microseconds(15);  // D10

}  // namespace

void worker_pool::impl::run(worker& self) noexcept {
  detail::thread_context& context = detail::this_thread();
  context.current_worker = &self;
  context.current_executor = &pool_;
  context.lane = &self.forks;
  context.lane_home = &pool_;
  // A new thread was counted as searching by whoever started it.
  bool searching = true;
  while (true) {
    job* item = next_local(self);
    if (item == nullptr) item = injection_.pop();
    if (item == nullptr) {
      if (!searching) searching = begin_search();
      if (searching) item = search(self);
    }
    if (item != nullptr) {
      if (searching) end_search();
      searching = false;
      execute(self, context, item);
      continue;
    }
    if (!park(self, searching)) break;
    searching = true;  // the waker counted us
  }
  context.current_worker = nullptr;
  context.current_executor = nullptr;
  context.lane = nullptr;
  context.lane_home = nullptr;
}

void worker_pool::impl::execute(worker& self, detail::thread_context& context, job* item,
                                std::uint32_t budget) noexcept {
  self.items.add();
  context.env = item->env;
  context.budget = budget;
  __builtin_prefetch(item->env, 1);  // if the task ends, that is the next it touches
  item->run(item);
  if (context.current_worker == nullptr) [[unlikely]]
    detail::end_forked_child();
  context.env = nullptr;
}

job* worker_pool::impl::next_local(worker& self) noexcept {
  if (++self.tick % fairness_interval == 0) {
    if (job* item = old_end(self)) return item;
  }
  // Without forks the order of the lanes is the right one, whoever asks for attention.
  // An item of another lane that asks for attention itself (it yields) must not come twice in a row.
  const bool forks_turn = std::exchange(self.forks_turn, false) && self.forks.size() != 0;
  if (self.give_way || (!forks_turn && self.forks.size() != 0 &&
                        self.forks.attention.load(std::memory_order_relaxed))) {
    self.give_way = false;
    self.forks_turn = true;
    // What was posted before the flag was set is seen by the scan.
    if (self.forks.look_after()) wake_one();
    if (job* item = from_other_lanes(self)) {
      if (!self.fifo.empty() || !injection_.empty()) {
        self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
      }
      self.attention_pause = attention_joins;
      return item;
    }
  }
  if (job* item = self.forks.pop()) return item;
  return from_other_lanes(self);
}

bool worker_pool::impl::look_after_lane(worker& self, bool joining) noexcept {
  if (self.forks.look_after()) wake_one();
  if (self.fifo.empty() && injection_.empty()) return false;
  self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
  if (!joining) return false;
  if (self.attention_pause > 0) {
    --self.attention_pause;
    return false;
  }
  self.give_way = true;
  return true;
}

job* worker_pool::impl::from_other_lanes(worker& self) noexcept {
  if (self.next_streak < next_slot_limit) {
    if (job* item = self.fifo.take_next()) {
      ++self.next_streak;
      return item;
    }
  }
  self.next_streak = 0;
  if (job* item = self.fifo.pop()) return item;
  if (job* item = injection_.pop()) return item;
  return self.fifo.take_next();
}

job* worker_pool::impl::old_end(worker& self) noexcept {
  if (job* item = injection_.pop()) return item;
  if ((self.tick / fairness_interval) % 2 == 0) {
    if (job* item = self.forks.steal()) return item;
  }
  return self.fifo.pop();
}

job* worker_pool::impl::search(worker& self) noexcept {
  note_progress(self);
  const auto until = std::chrono::steady_clock::now() + search_time;
  while (true) {
    if (job* item = steal_round(self)) return item;
    if (!may_spin_ || std::chrono::steady_clock::now() >= until) break;
    for (int i = 0; i < 16; ++i) platform::spin_pause();
  }
  return steal_stuck_next(self);
}

job* worker_pool::impl::steal_round(worker& self) noexcept {
  if (job* item = injection_.pop()) return item;
  const std::size_t count = workers_.size();
  const std::size_t first = self.next_random() % count;
  for (std::size_t i = 0; i < count; ++i) {
    worker& victim = *workers_[(first + i) % count];
    if (&victim == &self) continue;
    std::uint32_t moved = 0;
    job* item = victim.fifo.steal_half(self.fifo, moved);
    if (item == nullptr) {
      item = victim.forks.steal();
      moved = 1;
    }
    if (item != nullptr) {
      self.steals.add(moved);
      return item;
    }
  }
  return nullptr;
}

void worker_pool::impl::note_progress(worker& self) noexcept {
  for (const auto& each : workers_) self.items_at_search[each->number] = each->items.read();
}

job* worker_pool::impl::steal_stuck_next(worker& self) noexcept {
  // A next slot is taken only from a worker that has been in one segment for the whole search: else
  // two tasks that wake each other would be torn apart.
  for (const auto& each : workers_) {
    if (each.get() == &self || each->items.read() != self.items_at_search[each->number]) continue;
    if (job* item = each->fifo.take_next()) {
      self.steals.add();
      return item;
    }
  }
  return nullptr;
}

bool worker_pool::impl::begin_search() noexcept {
  // D10: at most half of those that are awake. A stale look only lets one more or one less search.
  const std::uint64_t state = state_.load(std::memory_order_relaxed);
  const std::uint64_t awake =
      workers_.size() - std::min<std::uint64_t>(workers_.size(), idle_of(state));
  if (searching_of(state) * 2 >= std::max<std::uint64_t>(awake, 2)) return false;
  state_.fetch_add(one_searching, std::memory_order_seq_cst);
  gathered_by_.ran_dry();  // K2: what it finds comes while we search
  return true;
}

void worker_pool::impl::end_search() noexcept {
  // P7. The last searcher that found something wakes the next: there may be more.
  const std::uint64_t before = state_.fetch_sub(one_searching, std::memory_order_seq_cst);
  if (searching_of(before) == 1) wake_one();
}

bool worker_pool::impl::anything_queued() const noexcept {
  if (!injection_.empty()) return true;
  for (const auto& each : workers_) {
    if (each->fifo.size() != 0 || !each->forks.empty()) return true;
  }
  return false;
}

bool worker_pool::impl::park(worker& self, bool searching) noexcept {
  self.signal.store(worker::parked, std::memory_order_relaxed);  // P2: published by the lock
  std::uint64_t before = 0;
  {
    std::lock_guard lock(idle_lock_);
    if (stopping_) {
      if (searching) state_.fetch_sub(one_searching, std::memory_order_seq_cst);
      threads_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    idle_stack_.push_back(&self);
    // P3. seq_cst: first we are counted as idle, then we look at the queues once more.
    before =
        state_.fetch_add(one_idle - (searching ? one_searching : 0), std::memory_order_seq_cst);
  }
  self.parks.add();
  gathered_by_.ran_dry();  // K2
  if (searching_of(before) == (searching ? 1U : 0U)) {
    // P4. Nobody searches any more: what came between our last look and P3 is ours to find.
    if (anything_queued()) wake_one();  // most likely ourselves: we are on top of the stack
  }
  while (self.signal.load(std::memory_order_acquire) != worker::notified) {  // pairs with the waker
    platform::wait_on(self.signal, worker::parked);
  }
  self.signal.store(worker::running, std::memory_order_relaxed);  // ours again
  // After stop() there may still be work: the loop drains it and comes back here.
  return true;
}

}  // namespace tandem::inline v0
