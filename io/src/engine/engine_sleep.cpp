// engine_sleep.cpp: how an engine sleeps, gathers for busy workers, and is woken. Protocol ring_sleep: io/src/engine/README.md.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>

#include "engine/completion_engine.hpp"
#include "engine/stealable_executor.hpp"

namespace tandem::inline v0::io {

namespace {

// ring_sleep/gather: from how many on, and for how long.
constexpr std::size_t least_gathered = 4;
constexpr auto longest_gathering = std::chrono::microseconds(500);

}  // namespace

void completion_engine::sleep() noexcept {
  using clock = std::chrono::steady_clock;
  // ring_sleep/announce. seq_cst: pairs with push_inbox and timer_service::arm. First we say that
  // we sleep, then we look once more; whoever comes after that look sees the flag and wakes us.
  const bool gathers = may_gather();
  if (gathers) gathering_.prepare();
  gathers_.store(gathers, std::memory_order_relaxed);  // published by asleep_
  asleep_.store(true, std::memory_order_seq_cst);
  clock::time_point deadline = clock::time_point::max();
  tandem::detail::timer_service& timers = tandem::detail::timers_of(owner_);
  if (drives_timers_) deadline = timers.sleep_begins(this);
  bool work = stopping_.load(std::memory_order_seq_cst) ||
              requested_.load(std::memory_order_seq_cst) ||  // moving/ask
              can_feed() || shared_.has_work();              // stealable/take
  for (host* const each : hosted_) work |= each->has_mail();
  if (gathers && !work) {
    gathering_.wait(owner_.workers(), std::min(deadline, clock::now() + longest_gathering));
    work = true;
  }
  const clock::time_point lies_until = work ? clock::time_point::max() : lie_down();
  backend_->wait(work ? clock::time_point::min() : std::min(deadline, lies_until));
  get_up();
  asleep_.store(false, std::memory_order_seq_cst);  // stalls/look; a late wake costs one round
  if (drives_timers_) timers.sleep_ended(this);
  shared_.kick_watch();  // stalls/look
}

std::chrono::steady_clock::time_point completion_engine::lie_down() noexcept {
  using clock = std::chrono::steady_clock;
  const std::uint64_t segments = segments_.load(std::memory_order_relaxed);  // own counter
  if (segments != lay_down_at_) {
    // Once for each time that it has run something: that others are busy must not wake it again and
    // again.
    lay_down_at_ = segments;
    if (tandem::detail::has_frames_to_trim() && !tandem::detail::timers_of(owner_).is_virtual()) {
      spell_.begin(clock::now().time_since_epoch().count());
    }
  }
  return clock::time_point(clock::duration(spell_.deadline_ns()));
}

void completion_engine::get_up() noexcept {
  using clock = std::chrono::steady_clock;
  if (spell_.deadline_ns() == tandem::detail::frame_idle::never) return;
  if (spell_.is_due(clock::now().time_since_epoch().count())) spell_.give_back(true);
}

bool completion_engine::may_gather() noexcept {
  // ring_sleep/gather. Whoever has brought nothing for its own tasks lately has most likely none
  // that wait for the ring.
  const bool may = workers_fill_cpus_ && brought_ >= least_gathered && !stayed_;
  brought_ = 0;
  stayed_ = false;
  return may;
}

void completion_engine::end_wait() noexcept {
  // If this is not the wait any more for which asleep_ was set, another one ends in vain.
  if (gathers_.load(std::memory_order_relaxed)) {  // published by asleep_
    gathering_.end();
  } else {
    backend_->wake();
  }
}

void completion_engine::wake_for_request() noexcept {
  if (asleep_.load(std::memory_order_seq_cst) && gathers_.load(std::memory_order_relaxed)) return;
  wake();
}

void completion_engine::wake() noexcept { (void)end_sleep(false); }
bool completion_engine::wake_to_search() noexcept { return end_sleep(true); }

bool completion_engine::end_sleep(bool to_search) noexcept {
  // ring_sleep/wake. Of all that come while it sleeps one wakes it.
  if (!asleep_.load(std::memory_order_seq_cst)) return false;
  waking_.fetch_add(1, std::memory_order_seq_cst);  // pairs with the end of run()
  const bool won = asleep_.exchange(false, std::memory_order_seq_cst);
  if (won) {
    // stealable/call: published by the wake
    if (to_search) searching_.store(true, std::memory_order_relaxed);
    wakes_.fetch_add(1, std::memory_order_relaxed);
    end_wait();
  }
  waking_.fetch_sub(1, std::memory_order_release);
  return won;
}

}  // namespace tandem::inline v0::io
