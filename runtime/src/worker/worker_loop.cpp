// worker_loop.cpp: what a worker does, and how it goes to sleep.
// SPDX-License-Identifier: MIT
#include "worker/worker_loop.hpp"

#include <chrono>
#include <mutex>
#include <source_location>

#include <tandem/detail/forked.hpp>
#include <tandem/detail/frame_idle.hpp>

#include "frames/idle_wait.hpp"
#include "worker/as_worker.hpp"

namespace tandem::inline v0::detail {

void worker_loop::run(worker& self) noexcept {
  thread_context& context = this_thread();
  const as_worker role(context, self, home_);
  order_.take_handed(self);
  while (true) {
    job* item = order_.next(self);
    if (item == nullptr) {
      if (!self.searching) self.searching = begin_search();
      if (self.searching) item = order_.search(self);
    }
    if (item == nullptr) {
      if (!park(self)) break;
      continue;
    }
    if (self.searching) end_search(self);
    pool_control* const watching = control_.for_item();
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
}

void worker_loop::execute(worker& self, thread_context& context, job* item,
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
    end_forked_child();
  context.env = nullptr;
}

bool worker_loop::begin_search() noexcept {
  if (!word_.begin_search()) return false;
  gathered_by_.ran_dry();  // gathering/run_dry: what it finds comes while we search
  return true;
}

void worker_loop::end_search(worker& self) noexcept {
  // parking/pass_on. The last searcher that found something looks whether there is more, and wakes
  // the next for it.
  const busy_word::counts before = word_.end_search();
  self.searching = false;
  if (before.searching() == 1 && before.room() > 0 && order_.anything_queued()) waker_.wake_one();
}

bool worker_loop::park(worker& self) noexcept {
  // parking/lie_down: published by the lock
  self.signal.store(worker::parked, std::memory_order_relaxed);
  busy_word::counts before;
  {
    std::unique_lock lock(idle_.lock());
    if (threads_.is_closed()) {
      if (threads_.has_to_stay(self)) return true;
      lock.unlock();
      threads_.leave(self);  // submissions/end
      return false;
    }
    idle_.push(self);
    // parking/announce. seq_cst: first we are counted as idle, then we look at the queues once
    // more.
    before = word_.lie_down(self.searching);
  }
  const bool last = before.searching() == (self.searching ? 1U : 0U);
  self.searching = false;
  self.parks.add();
  gathered_by_.ran_dry();  // gathering/run_dry
  // parking/look. If nobody searches any more, what came between our last look and parking/announce
  // is ours to find. Most likely it is ourselves whom we wake: we are on top of the stack.
  if (last && order_.anything_queued()) waker_.wake_one();
  return rest(self);
}

bool worker_loop::step_back(worker& self) noexcept {
  // crew/step_back. A look first: most that are asked stay.
  if (word_.about_now().room() >= 0) return true;
  order_.hand_over_lanes(self);
  // parking/lie_down: published by the lock
  self.signal.store(worker::parked, std::memory_order_relaxed);
  {
    const std::lock_guard lock(idle_.lock());
    if (threads_.is_closed()) return true;  // it ends as all do: in park()
    // Two may find the same place too many: the word decides.
    busy_word::counts before;
    if (!word_.step_back(before)) {
      self.signal.store(worker::running, std::memory_order_relaxed);
      return true;
    }
    if (before.room() < -1) control_.get()->ask(pool_control::too_many);  // the next one
    idle_.push(self);
  }
  self.parks.add();
  // parking/look is not for us: no room means that as many as may be are busy, and each of them
  // looks before it parks.
  gathered_by_.ran_dry();  // gathering/run_dry
  return rest(self);
}

bool worker_loop::rest(worker& self) noexcept {
  self.turn_item = 0;  // records/clock
  auto since = std::chrono::steady_clock::now();
  frame_idle spell;
  spell.begin(since.time_since_epoch().count());
  while (true) {
    const std::int64_t until = limits_.stays_until(since, threads_.threads(), workers_.most());
    // Whoever parks last finds nobody busy, here or in leave().
    const auto is_last = [this] { return word_.busy() == 0; };
    // acquire, twice: pairs with whoever takes us off the stack, and with changes/look_again.
    while (self.signal.load(std::memory_order_acquire) == worker::parked &&
           lie_on(spell, self.signal, worker::parked, until, is_last)) {}
    std::uint32_t signal = self.signal.load(std::memory_order_acquire);
    if (signal == worker::look_again) {
      // If it fails we have been taken off the stack meanwhile. Relaxed: the load above has read
      // what changed.
      self.signal.compare_exchange_strong(signal, worker::parked, std::memory_order_relaxed);
    } else if (signal == worker::parked) {
      // crew/retire. Several may be too many. Nobody went: perhaps because we are being woken.
      if (!threads_.retire_one()) since = std::chrono::steady_clock::now();
    } else if (signal == worker::dismissed) {
      threads_.leave(self);
      return false;
    } else {
      self.signal.store(worker::running, std::memory_order_relaxed);  // ours again
      self.searching = self.handed == nullptr;  // as whoever woke it has counted it
      order_.take_handed(self);
      // After the end of the pool there may still be work: the loop drains it and comes back here.
      return true;
    }
  }
}

}  // namespace tandem::inline v0::detail
