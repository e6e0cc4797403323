// waker.cpp: sleepers are woken, and threads started for what waits.
// SPDX-License-Identifier: MIT
#include "crew/waker.hpp"

#include <mutex>

namespace tandem::inline v0::detail {

void waker::wake_a_searcher() noexcept {
  worker* chosen = nullptr;
  {
    const std::lock_guard lock(idle_.lock());
    if (threads_.is_closed()) return;
    if (!word_.now().needs_a_searcher()) return;
    if (idle_.empty()) {
      if (!threads_.start_one(threads_.threads_without_asking(), nullptr)) return;
    } else {
      chosen = &idle_.take_youngest();
      word_.wake_to_search();
    }
  }
  if (chosen != nullptr) {
    rouse(*chosen);
    return;
  }
  wakes_.fetch_add(1, std::memory_order_relaxed);
  tell_watch();
}

void waker::rouse(worker& chosen) noexcept {
  wakes_.fetch_add(1, std::memory_order_relaxed);
  if (is_recorded()) [[unlikely]]
    record_loop(trace_kind::rouse, chosen.number);
  chosen.tell(worker::notified);
  tell_watch();
}

void waker::ask_attention() noexcept {
  // Whoever is in a long recursion looks at its flag at the next join.
  if (word_.about_now().room() > 0) return;  // an idle one comes for it
  for (worker& each : workers_) {
    // Mostly it is set, and its line stays where it is. seq_cst: its owner then clears it
    // (fork_lane/expose) after the item was published, and sees the item. Release: pairs with the
    // exchange in look_after(), so that the flag never outruns the item.
    if (!each.forks.attention.load(std::memory_order_seq_cst)) {
      each.forks.attention.store(true, std::memory_order_release);
    }
  }
}

worker* waker::take_idle() noexcept {
  // A look first: mostly there is none.
  if (word_.now().room() <= 0) return nullptr;
  const std::lock_guard lock(idle_.lock());
  if (threads_.is_closed() || idle_.empty()) return nullptr;
  if (word_.now().room() <= 0) return nullptr;
  worker& chosen = idle_.take_youngest();
  // Busy, but not searching: it will not look, so whoever posts something now wakes another one.
  word_.wake_with_item();
  return &chosen;
}

bool waker::get_up(worker& self) noexcept {
  {
    const std::lock_guard lock(idle_.lock());
    if (word_.now().room() <= 0 || !idle_.take(self)) return false;
    word_.wake_to_search();
    self.signal.store(worker::running, std::memory_order_relaxed);  // nobody else's any more
  }
  tell_watch();
  return true;
}

bool waker::hand_to_idle(job& item) noexcept {
  return wake_for([&item] { return &item; });
}

bool waker::start_for(job& item, unsigned limit) noexcept {
  if (!threads_.has_threads()) return false;
  if (threads_.threads() >= limit) return false;
  const auto has_room = [this] {
    return limits_.growth() != growth_order::demand || word_.now().room() > 0;
  };
  if (!has_room()) return false;
  {
    const std::lock_guard lock(idle_.lock());
    if (threads_.is_closed() || !has_room()) return false;
    // Somebody searches: else that one would have been woken.
    if (limits_.growth() == growth_order::demand && !idle_.empty()) return false;
    if (!threads_.start_one(limit, &item)) return false;
  }
  tell_watch();
  return true;
}

bool waker::start_searcher(unsigned limit) noexcept {
  if (!threads_.has_threads()) return false;
  {
    const std::lock_guard lock(idle_.lock());
    if (!start_below(limit)) return false;
  }
  tell_watch();
  return true;
}

bool waker::start_core_thread() noexcept {
  if (!threads_.has_threads()) return false;
  {
    const std::lock_guard lock(idle_.lock());
    threads_.try_at_once();
    if (!start_below(limits_.core())) return false;
  }
  tell_watch();
  return true;
}

}  // namespace tandem::inline v0::detail
