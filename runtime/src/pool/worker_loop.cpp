// worker_loop.cpp: what a worker does: take, search, park. Protocols parking, inbox: README.md beside this.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <utility>

#include <tandem/detail/forked.hpp>

#include "frames/idle_wait.hpp"
#include "platform/platform.hpp"
#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0 {

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

}  // namespace

void worker_pool::impl::run(worker& self) noexcept {
  detail::thread_context& context = detail::this_thread();
  context.current_worker = &self;
  context.current_executor = &pool_;
  context.lane = &self.forks;
  context.lane_home = &pool_;
  take_handed(self);
  while (true) {
    job* item = next_local(self);
    if (item == nullptr) item = take_injected(self);
    if (item == nullptr) {
      if (!self.searching) self.searching = begin_search();
      if (self.searching) item = search(self);
    }
    if (item == nullptr) {
      if (!park(self)) break;
      continue;
    }
    if (self.searching) end_search(self);
    // Acquire: pairs with changes/control, which may make it while the pool runs.
    detail::pool_control* const watching = control_.load(std::memory_order_acquire);
    if (watching != nullptr) {
      const environment* const env = item->env;
      // Relaxed: for reports, which look at what stays.
      self.where.store(env != nullptr ? env->spawned_at() : std::source_location(),
                       std::memory_order_relaxed);
    }
    execute(self, context, item);
    if (watching != nullptr && watching->asks()) [[unlikely]] {
      watching->answer();
      if (!step_back(self)) break;
    }
  }
  context.current_worker = nullptr;
  context.current_executor = nullptr;
  context.lane = nullptr;
  context.lane_home = nullptr;
}

void worker_pool::impl::execute(worker& self, detail::thread_context& context, job* item,
                                std::uint32_t budget) noexcept {
  if (self.runs_own_fork) [[unlikely]] {
    self.runs_own_fork = false;
    self.own_forks.add();
  } else {
    self.items.add();
  }
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
  // Without forks the order of the lanes is the right one, whoever asks for attention. An item of
  // another lane that asks for attention itself (it yields) must not come twice in a row.
  const bool forks_turn = std::exchange(self.forks_turn, false) && self.forks.size() != 0;
  if (self.give_way || (!forks_turn && self.forks.size() != 0 &&
                        self.forks.attention.load(std::memory_order_relaxed))) {
    self.give_way = false;
    self.forks_turn = true;
    // What was posted before the flag was set is seen by the scan.
    if (self.forks.look_after()) wake_one();
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

bool worker_pool::impl::look_after_lane(worker& self, bool joining) noexcept {
  if (self.forks.look_after()) wake_one();
  if (self.fifo.empty() && !injected_waits()) return false;
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
  if (job* item = take_injected(self)) return item;
  return self.fifo.take_next();
}

job* worker_pool::impl::take_injected(worker& self) noexcept {
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

void worker_pool::impl::choose_lot(worker& self) noexcept {
  // inbox/lot. By its pace since the last look, idle time included.
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t items = self.progress();
  const auto ran = static_cast<std::int64_t>(items - self.lot_items);
  const bool short_ones = now - self.lot_time < ran * std::chrono::nanoseconds(short_item).count();
  self.lot = short_ones ? std::min(self.lot * 2, most_in_lot) : 1;
  self.lot_time = now;
  self.lot_items = items;
}

job* worker_pool::impl::old_end(worker& self) noexcept {
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

job* worker_pool::impl::search(worker& self) noexcept {
  note_progress(self);
  self.turn_item = 0;  // records/clock
  const auto until = std::chrono::steady_clock::now() + search_time;
  while (true) {
    if (job* item = steal_round(self)) return item;
    if (!may_spin_ || std::chrono::steady_clock::now() >= until) break;
    for (int i = 0; i < 16; ++i) platform::spin_pause();
  }
  return steal_stuck_next(self);
}

job* worker_pool::impl::steal_round(worker& self) noexcept {
  if (job* item = take_injected(self)) return item;
  const unsigned count = workers_.count();
  const unsigned first = static_cast<unsigned>(self.next_random() % count);
  for (unsigned i = 0; i < count; ++i) {
    worker& victim = workers_[(first + i) % count];
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
  const unsigned count = workers_.count();
  self.watch_from = count <= worker::watched ? 0 : static_cast<unsigned>(self.random % count);
  for (unsigned i = 0; i < std::min(count, worker::watched); ++i) {
    self.items_at_search[i] = workers_[(self.watch_from + i) % count].progress();
  }
}

job* worker_pool::impl::steal_stuck_next(worker& self) noexcept {
  // A next slot is taken only from a worker that has been in one segment for the whole search: else
  // two tasks that wake each other would be torn apart. If threads came or went meanwhile the
  // numbers are somebody else's, and at worst a pair is torn apart once.
  const unsigned count = workers_.count();
  for (unsigned i = 0; i < std::min(count, worker::watched); ++i) {
    worker& each = workers_[(self.watch_from + i) % count];
    if (&each == &self || each.progress() != self.items_at_search[i]) continue;
    if (job* item = each.fifo.take_next()) {
      self.steals.add();
      return item;
    }
  }
  return nullptr;
}

bool worker_pool::impl::begin_search() noexcept {
  // At most half of those that are awake. A stale look only lets one more or one less search.
  const std::uint64_t state = state_.load(std::memory_order_relaxed);
  const int awake = target_.load(std::memory_order_relaxed) - room_of(state);
  if (static_cast<int>(searching_of(state)) * 2 >= std::max(awake, 2)) return false;
  state_.fetch_add(one_searching, std::memory_order_seq_cst);
  gathered_by_.ran_dry();  // gathering/run_dry: what it finds comes while we search
  return true;
}

void worker_pool::impl::end_search(worker& self) noexcept {
  // parking/pass_on. The last searcher that found something looks whether there is more, and wakes
  // the next for it.
  const std::uint64_t before = state_.fetch_sub(one_searching, std::memory_order_seq_cst);
  self.searching = false;
  if (searching_of(before) == 1 && room_of(before) > 0 && anything_queued()) wake_one();
}

bool worker_pool::impl::anything_queued() const noexcept {
  if (injected_waits()) return true;
  for (const worker& each : workers_) {
    if (each.fifo.size() != 0 || !each.forks.empty()) return true;
  }
  return false;
}

bool worker_pool::impl::park(worker& self) noexcept {
  // parking/lie_down: published by the lock
  self.signal.store(worker::parked, std::memory_order_relaxed);
  std::uint64_t before = 0;
  {
    std::unique_lock lock(idle_lock_);
    if (stopping_) {
      if (has_to_stay(self)) return true;
      lock.unlock();
      leave(self);  // submissions/end
      return false;
    }
    idle_stack_.push_back(&self);
    // parking/announce. seq_cst: first we are counted as idle, then we look at the queues once
    // more.
    before = state_.fetch_add(one_room - (self.searching ? one_searching : 0),
                              std::memory_order_seq_cst);
  }
  const bool last = searching_of(before) == (self.searching ? 1U : 0U);
  self.searching = false;
  self.parks.add();
  gathered_by_.ran_dry();  // gathering/run_dry
  // parking/look. If nobody searches any more, what came between our last look and parking/announce
  // is ours to find. Most likely it is ourselves whom we wake: we are on top of the stack.
  if (last && anything_queued()) wake_one();
  return rest(self);
}

bool worker_pool::impl::step_back(worker& self) noexcept {
  // crew/step_back. A look first: most that are asked stay.
  if (room_of(state_.load(std::memory_order_relaxed)) >= 0) return true;
  hand_over_lanes(self);
  // parking/lie_down: published by the lock
  self.signal.store(worker::parked, std::memory_order_relaxed);
  {
    const std::lock_guard lock(idle_lock_);
    if (stopping_) return true;  // it ends as all do: in park()
    // Two may find the same place too many: the word decides.
    std::uint64_t seen = state_.load(std::memory_order_seq_cst);
    while (true) {
      if (room_of(seen) >= 0) {
        self.signal.store(worker::running, std::memory_order_relaxed);
        return true;
      }
      if (state_.compare_exchange_weak(seen, seen + one_room, std::memory_order_seq_cst)) break;
    }
    if (room_of(seen) < -1) control()->ask(detail::pool_control::too_many);  // the next one
    idle_stack_.push_back(&self);
  }
  self.parks.add();
  // parking/look is not for us: no room means that as many as may be are busy, and each of them
  // looks before it parks.
  gathered_by_.ran_dry();  // gathering/run_dry
  return rest(self);
}

std::int64_t worker_pool::impl::rest_until(
    std::chrono::steady_clock::time_point since) const noexcept {
  using clock = std::chrono::steady_clock;
  // Relaxed, all: whoever is one too many sees it when it parks itself, and changes/look_again
  // tells who is parked.
  const unsigned there = threads_.load(std::memory_order_relaxed);
  if (there <= stay_.load(std::memory_order_relaxed)) return platform::no_deadline;
  if (there > workers_.most()) return since.time_since_epoch().count();  // at once
  const clock::duration span = keep_alive_.load(std::memory_order_relaxed);
  if (span > clock::time_point::max() - since) return platform::no_deadline;
  return (since + span).time_since_epoch().count();
}

bool worker_pool::impl::rest(worker& self) noexcept {
  self.turn_item = 0;  // records/clock
  auto since = std::chrono::steady_clock::now();
  detail::frame_idle spell;
  spell.begin(since.time_since_epoch().count());
  while (true) {
    const std::int64_t until = rest_until(since);
    // Whoever parks last finds nobody busy, here or in leave().
    const auto is_last = [this] { return busy() == 0; };
    // acquire, twice: pairs with whoever takes us off the stack, and with changes/look_again.
    while (self.signal.load(std::memory_order_acquire) == worker::parked &&
           detail::lie_on(spell, self.signal, worker::parked, until, is_last)) {}
    std::uint32_t signal = self.signal.load(std::memory_order_acquire);
    if (signal == worker::look_again) {
      // If it fails we have been taken off the stack meanwhile. Relaxed: the load above has read
      // what changed.
      self.signal.compare_exchange_strong(signal, worker::parked, std::memory_order_relaxed);
    } else if (signal == worker::parked) {
      // crew/retire. Several may be too many. Nobody went: perhaps because we are being woken.
      if (!retire_one()) since = std::chrono::steady_clock::now();
    } else if (signal == worker::dismissed) {
      leave(self);
      return false;
    } else {
      self.signal.store(worker::running, std::memory_order_relaxed);  // ours again
      self.searching = self.handed == nullptr;  // as whoever woke it has counted it
      take_handed(self);
      // After stop() there may still be work: the loop drains it and comes back here.
      return true;
    }
  }
}

}  // namespace tandem::inline v0
