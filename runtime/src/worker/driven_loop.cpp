// driven_loop.cpp: running a runtime that has no threads.
// SPDX-License-Identifier: MIT
#include "worker/driven_loop.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace tandem::inline v0::detail {

namespace {

constexpr std::size_t items_a_turn = 16;
constexpr std::chrono::seconds patience(10);

std::int64_t to_ns(clock::time_point time) noexcept { return time.time_since_epoch().count(); }
clock::time_point to_time(std::int64_t ns) noexcept {
  return clock::time_point(std::chrono::nanoseconds(ns));
}

/// A driver that runs by the rules of one thread at a time.
std::unique_lock<std::mutex> lock_to_drive(std::mutex& driving) {
  std::unique_lock lock(driving, std::try_to_lock);
  if (!lock) {
    throw std::logic_error("a runtime without threads is driven by two threads at once");
  }
  return lock;
}

}  // namespace

driven_loop::driven_loop(tandem::runtime& owner, const std::optional<virtual_time>& time)
    : owner_(owner), time_(time) {
  if (!time_) return;
  // Two streams: a task that asks for one more number leaves the schedule as it is.
  std::uint64_t seeds = time_->seed();
  schedule_random_ = split_mix(seeds);
  task_random_ = split_mix(seeds);
}

timer_service& driven_loop::timers() const noexcept { return timers_of(owner_); }
std::int64_t driven_loop::clock_ns() const noexcept { return to_ns(timers().now()); }
bool driven_loop::queued() const noexcept { return workers_->anything_queued(); }

void driven_loop::notify() noexcept {
  // driving/signal. seq_cst: pairs with sleep_on_signal().
  signal_.fetch_add(1, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst)) platform::wake_all(signal_);
  // acquire: pairs with descriptor().
  if (platform::pollable* const there = pollable_.load(std::memory_order_acquire)) there->notify();
}

void driven_loop::sleep_on_signal(std::uint32_t seen, std::int64_t deadline_ns) noexcept {
  // driving/sleep. seq_cst: of this store with the compare inside the wait, and driving/signal's
  // count with its load of the flag, at least one sees the other.
  sleeping_.store(true, std::memory_order_seq_cst);
  if (signal_.load(std::memory_order_seq_cst) == seen) {
    platform::wait_on(signal_, seen, deadline_ns);
  }
  sleeping_.store(false, std::memory_order_relaxed);  // a late wake costs a system call
}

void driven_loop::hold() noexcept { holds_.fetch_add(1, std::memory_order_seq_cst); }

void driven_loop::release() noexcept {
  // driving/clock. After the post, so whoever reads 0 finds what was posted.
  if (holds_.fetch_sub(1, std::memory_order_seq_cst) == 1) notify();
}

std::size_t driven_loop::run_items(std::size_t most_items) noexcept {
  if (!is_virtual()) return workers_->run_some(most_items);
  std::size_t ran = 0;
  while (ran < most_items && workers_->step(split_mix(schedule_random_))) ++ran;
  return ran;
}

std::size_t driven_loop::run_ready(std::size_t most_items) noexcept {
  timers().expire(timers().now());
  return run_items(most_items);
}

std::int64_t driven_loop::lie_down(bool ran) noexcept {
  if (is_virtual()) {
    // Nothing happens by the real clock, so it is now or never.
    if (ran) trim_frame_store_for_good();
    return frame_idle::never;
  }
  const std::int64_t now_ns = clock_ns();
  if (ran) {
    spell_.begin(now_ns);
  } else if (spell_.is_due(now_ns)) {
    spell_.give_back(true);
  }
  return spell_.deadline_ns();
}

void driven_loop::rest(bool ran) noexcept {
  platform::pollable* const shown = pollable_owner_.get();
  if (queued()) {
    if (shown != nullptr) shown->notify();
    return;
  }
  const std::int64_t lies_until = lie_down(ran);
  const std::int64_t until = std::min(to_ns(timers().sleep_begins(this)), lies_until);
  if (shown != nullptr) shown->set_deadline(until);
}

std::size_t driven_loop::poll(std::size_t most_items) {
  const auto lock = lock_to_drive(driving_);
  if (pollable_owner_ != nullptr) pollable_owner_->clear();
  timers().sleep_ended(this);
  const std::size_t ran = run_ready(most_items);
  rest(ran != 0);
  return ran;
}

std::size_t driven_loop::run_until_idle() {
  const auto lock = lock_to_drive(driving_);
  if (pollable_owner_ != nullptr) pollable_owner_->clear();
  timers().sleep_ended(this);
  std::size_t ran = 0;
  while (const std::size_t more = run_ready(items_a_turn)) ran += more;
  rest(ran != 0);
  return ran;
}

driven_loop::ending driven_loop::run_until(condition done, std::int64_t deadline_ns) noexcept {
  while (!driving_.try_lock()) {
    if (done()) return ending::done;
    if (clock_ns() >= deadline_ns) return ending::time_over;
    // Another thread drives for a condition of its own; rare, so a look now and then has to do.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::unique_lock lock(driving_, std::adopt_lock);
  if (pollable_owner_ != nullptr) pollable_owner_->clear();
  timers().sleep_ended(this);
  ending how = ending::done;
  bool ran = false;
  while (!done()) {
    // driving/sleep: before the looks
    const std::uint32_t seen = signal_.load(std::memory_order_acquire);
    if (run_ready(items_a_turn) != 0) {
      ran = true;
      continue;
    }
    if (done()) break;
    if (clock_ns() >= deadline_ns) {
      how = ending::time_over;
      break;
    }
    if (is_virtual()) {
      how = wait_virtual(done, seen, deadline_ns);
      if (how != ending::done) break;
      continue;
    }
    const std::int64_t lies_until = lie_down(std::exchange(ran, false));
    const std::int64_t next = to_ns(timers().sleep_begins(this));
    if (!queued()) sleep_on_signal(seen, std::min({next, deadline_ns, lies_until}));
    timers().sleep_ended(this);
  }
  rest(ran);
  return how;
}

driven_loop::ending driven_loop::wait_virtual(condition done, std::uint32_t seen,
                                              std::int64_t deadline_ns) noexcept {
  // driving/clock. Read before the queues and the condition: what was held back may just have been
  // posted, or be what makes the condition true.
  if (holds_.load(std::memory_order_seq_cst) != 0) {
    wait_for_release(seen);
    return ending::done;
  }
  if (queued() || done()) return ending::done;
  std::int64_t next = to_ns(timers().earliest());
  // arm() makes time_point::max() a nanosecond less: "for ever", which never comes.
  if (next >= platform::no_deadline - 1) next = platform::no_deadline;
  if (next == platform::no_deadline && deadline_ns == platform::no_deadline) {
    return ending::stalled;
  }
  timers().advance_to(to_time(std::min(next, deadline_ns)));  // driving/choose
  return ending::done;
}

void driven_loop::wait_for_release(std::uint32_t seen) noexcept {
  const auto limit = std::chrono::steady_clock::now() + patience;
  sleep_on_signal(seen, to_ns(limit));
  if (signal_.load(std::memory_order_relaxed) != seen || has_complained_) return;  // a hint
  if (std::chrono::steady_clock::now() < limit) return;
  has_complained_ = true;
  std::fprintf(
      stderr,
      "tandem: the virtual clock has been standing still for 10 s of real time, since I/O, a "
      "blocking() call or a clock_hold is under way (%u of them). A task that sleeps while "
      "another one waits for a peer waits for ever: let tests talk through channels.\n",
      holds_.load(std::memory_order_relaxed));
}

pollable_handle driven_loop::handle() {
  if (is_virtual()) {
    throw std::logic_error(
        "runtime::native_handle: a virtual clock does not follow real time, so there is nothing to "
        "poll for: use run_for or run_until_idle");
  }
  const auto lock = lock_to_drive(driving_);
  if (pollable_owner_ == nullptr) {
    pollable_owner_ = std::make_unique<platform::pollable>();
    pollable_.store(pollable_owner_.get(), std::memory_order_release);  // pairs with notify()
    pollable_owner_->notify();                                          // what was posted before
  }
  return pollable_owner_->handle();
}

}  // namespace tandem::inline v0::detail
