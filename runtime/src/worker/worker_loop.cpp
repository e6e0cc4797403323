// worker_loop.cpp: what a worker does, and how it goes to sleep.
// SPDX-License-Identifier: MIT
#include "worker/worker_loop.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <source_location>
#include <utility>

#include <tandem/detail/forked.hpp>
#include <tandem/detail/frame_idle.hpp>
#include <tandem/detail/listed_thread.hpp>

#include "frames/idle_wait.hpp"
#include "platform/futex.hpp"
#include "platform/spin_pause.hpp"
#include "worker/as_worker.hpp"

namespace tandem::inline v0::detail {

namespace {
constexpr std::uint32_t items_between_looks = 61;  // ports/look
// ports/spin
constexpr auto spin_time = std::chrono::microseconds(40);
constexpr std::uint32_t vain_spins_in_a_row = 4;
constexpr std::uint32_t spins_between_trials = 63;

/// From now on, in ns of the steady clock.
std::int64_t after(std::chrono::nanoseconds time) noexcept {
  return (std::chrono::steady_clock::now() + time).time_since_epoch().count();
}

// Its owner's; others read it only to wake whoever lies there.
worker_port* port_of(const worker& self) noexcept {
  return self.lies_in.load(std::memory_order_relaxed);
}
worker_port* forget_port(worker& self) noexcept {
  worker_port* const port = port_of(self);
  self.lies_in.store(nullptr, std::memory_order_relaxed);
  return port;
}

}  // namespace

void worker_loop::run(worker& self) noexcept {
  thread_context& context = this_thread();
  const as_worker role(context, self, home_);
  const listed_thread here(home_.owner(), "worker", static_cast<int>(self.number));
  order_.take_handed(self);
  while (true) {
    // What waits in its lane comes first; and what the port brings at once finds room there.
    if (self.tick - self.looked_at >= items_between_looks &&
        self.fifo.size() < items_between_looks) {
      look_into_port(self, true);
    }
    job* item = order_.next(self);
    if (item == nullptr) {
      if (!self.searching) {
        if (look_into_port(self, false)) continue;
        // ports/lie_in. A look at what there is costs less than a search; parking/look is still to come.
        const bool may_lie = self.came_by_port != 0 && !order_.anything_queued();
        self.searching = !may_lie && begin_search();
      }
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
  TANDEM_PREFETCH_TO_WRITE(item->env);  // if the task ends, that is the next it touches
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
  if (before.searching() == 1 && before.room() > 0 && order_.anything_to_wake_for()) {
    waker_.wake_one();
  }
}

bool worker_loop::park(worker& self) noexcept {
  worker_port* const port = enter_port();  // ports/lie_in
  // parking/lie_down: published by the lock
  self.lies_in.store(port, std::memory_order_relaxed);
  self.signal.store(port != nullptr ? worker::in_port : worker::parked, std::memory_order_relaxed);
  busy_word::counts before;
  {
    std::unique_lock lock(idle_.lock());
    if (threads_.is_closed()) {
      const bool stays = threads_.has_to_stay(self);
      lock.unlock();
      leave_port(self);
      if (stays) return true;
      threads_.leave(self);  // submissions/end
      return false;
    }
    self.looks_out = std::exchange(self.saw_young, false) && platform::waits_are_short() &&
                     lookout_.begin();  // lookout/begin
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
  if (last && order_.anything_to_wake_for()) waker_.wake_one();
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
  self.turn_item = 0;                                      // records/clock
  const recorded_rest recorded(port_of(self) == nullptr);  // in a port it is soon got up
  auto since = std::chrono::steady_clock::now();
  frame_idle spell;
  // deadlocks/idle: whoever lies down last looks up once.
  const bool is_last = word_.busy() == 0;
  self.told_of_idleness = !is_last;
  spell.begin(since.time_since_epoch().count(), is_last);
  while (true) {
    // ports/lie_in. Whoever waits there stays, however long, unless there must not be so many.
    const unsigned threads = threads_.threads();
    const bool stays = port_of(self) != nullptr && threads <= workers_.most();
    const std::int64_t may_stay =
        stays ? platform::no_deadline : limits_.stays_until(since, threads, workers_.most());
    const std::int64_t until =
        self.looks_out ? std::min(may_stay, after(lookout::pause)) : may_stay;
    const bool port_calls = lie(self, spell, until);
    // acquire: pairs with whoever takes us off the stack, and with changes/look_again.
    std::uint32_t signal = self.signal.load(std::memory_order_acquire);
    if (signal == worker::look_again) {
      // If it fails we have been taken off the stack meanwhile. Relaxed: the load above has read
      // what changed.
      self.signal.compare_exchange_strong(
          signal, port_of(self) != nullptr ? worker::in_port : worker::parked,
          std::memory_order_relaxed);
    } else if (signal == worker::in_port && port_calls) {
      if (port_.get_used() == port_of(self) && waker_.get_up(self)) {
        self.searching = true;
        (void)take_from_port(self, *forget_port(self));
        return true;
      }
      move_out_of_port(self);
    } else if (self.looks_out && until < may_stay &&
               (signal == worker::parked || signal == worker::in_port)) {
      if (look_out(self)) return true;
    } else if (signal == worker::parked || signal == worker::in_port) {
      // crew/retire. Several may be too many. Nobody went: perhaps because we are being woken.
      if (!threads_.retire_one()) since = std::chrono::steady_clock::now();
    } else if (signal == worker::dismissed) {
      leave_port(self);
      end_lookout(self);
      threads_.leave(self);
      return false;
    } else {
      self.signal.store(worker::running, std::memory_order_relaxed);  // ours again
      self.searching = self.handed == nullptr;  // as whoever woke it has counted it
      end_lookout(self);
      order_.take_handed(self);
      worker_port* const port = forget_port(self);
      const bool any = port != nullptr && take_from_port(self, *port) != 0;
      // Behind what it has in hand, which may be long.
      if (any && !self.searching) waker_.wake_one();
      // After the end of the pool there may still be work: the loop drains it and comes back here.
      return true;
    }
  }
}

bool worker_loop::look_out(worker& self) noexcept {
  const lookout_sight sight = order_.look_out(self.looked_out_at);
  if (sight == lookout_sight::young) return false;
  if (sight == lookout_sight::ripe && waker_.get_up(self)) {
    self.searching = true;
    end_lookout(self);
    if (worker_port* const port = forget_port(self)) (void)take_from_port(self, *port);
    return true;
  }
  // Also if as many as may be are busy: whoever makes room looks (crew/goal).
  end_lookout(self);
  return false;
}

void worker_loop::end_lookout(worker& self) noexcept {
  if (!std::exchange(self.looks_out, false)) return;
  lookout_.end();
  // Whoever searches looks before it parks.
  if (!self.searching && order_.anything_queued()) waker_.wake_one();
}

bool worker_loop::is_still_last(worker& self) noexcept {
  if (word_.busy() != 0) return false;
  if (!std::exchange(self.told_of_idleness, true)) threads_.workers_are_idle();  // deadlocks/idle
  return true;
}

bool worker_loop::lie(worker& self, frame_idle& spell, std::int64_t until_ns) noexcept {
  if (port_of(self) != nullptr) return lie_in_port(self, spell, until_ns);
  // Whoever parks last finds nobody busy, here or in leave().
  const auto is_last = [this, &self] { return is_still_last(self); };
  while (self.signal.load(std::memory_order_acquire) == worker::parked &&
         lie_on(spell, self.signal, worker::parked, until_ns, is_last)) {}
  return false;
}

bool worker_loop::lie_in_port(worker& self, frame_idle& spell, std::int64_t until_ns) noexcept {
  worker_port& port = *port_of(self);
  if (spin_in_port(self, port)) return true;
  // ports/lie_in. Told after this look, the wake ends the wait.
  while (self.signal.load(std::memory_order_acquire) == worker::in_port) {
    if (port_.get_used() != &port) return true;  // ports/end
    if (port.wait(std::min(spell.deadline_ns(), until_ns))) return true;
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    if (now >= until_ns) return false;
    if (spell.is_due(now)) spell.give_back(is_still_last(self));  // trim/give_back
  }
  return false;
}

bool worker_loop::spin_in_port(worker& self, worker_port& port) noexcept {
  // ports/spin
  if (!order_.may_spin()) return false;
  if (self.spins_left_out != 0) {
    --self.spins_left_out;
    return false;
  }
  const auto until = std::chrono::steady_clock::now() + spin_time;
  // As in lie_in_port(): a look that takes the wake away comes after the signal that it is for.
  while (self.signal.load(std::memory_order_acquire) == worker::in_port) {
    if (port.wait(INT64_MIN)) {
      self.vain_spins = 0;
      return true;
    }
    if (std::chrono::steady_clock::now() >= until) break;
    for (int i = 0; i < 16; ++i) platform::spin_pause();
  }
  // Also if it was told something meanwhile: nothing came here.
  if (++self.vain_spins >= vain_spins_in_a_row) self.spins_left_out = spins_between_trials;
  return false;
}

worker_port* worker_loop::enter_port() const noexcept {
  worker_port* const port = port_.get_used();
  return port != nullptr && port->try_enter() ? port : nullptr;
}

bool worker_loop::look_into_port(worker& self, bool runs_on) noexcept {
  // Whoever has got one thing there mostly waits for the next one: what comes is found there.
  if (!runs_on && self.came_by_port == 1) return false;
  self.looked_at = self.tick;
  worker_port* const port = enter_port();
  if (port == nullptr) {
    if (port_.get_used() == nullptr) self.came_by_port = 0;
    return false;
  }
  const bool any = port->wait(INT64_MIN);
  const std::size_t count = take_from_port(self, *port);
  if (count > (runs_on ? 0U : 1U)) waker_.wake_one();
  return any;
}

std::size_t worker_loop::take_from_port(worker& self, worker_port& port) noexcept {
  job_list mine;
  port.leave(home_, mine);
  const std::size_t count = mine.size();
  while (job* const item = mine.pop_front()) order_.push(self, item);
  self.came_by_port = static_cast<std::uint32_t>(count);
  return count;
}

void worker_loop::leave_port(worker& self) noexcept {
  worker_port* const port = forget_port(self);
  if (port == nullptr) return;
  (void)take_from_port(self, *port);
  order_.hand_over_lanes(self);  // also the turns of others' homes, which are jobs of this pool
  if (!order_.anything_queued()) return;
  waker_.wake_one();
  waker_.ask_attention();
}

void worker_loop::move_out_of_port(worker& self) noexcept {
  // If it fails it has been told something, and leaves the port with that.
  std::uint32_t signal = worker::in_port;
  if (self.signal.compare_exchange_strong(signal, worker::parked, std::memory_order_acq_rel)) {
    leave_port(self);
  }
}

}  // namespace tandem::inline v0::detail
