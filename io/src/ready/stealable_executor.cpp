// stealable_executor.cpp: publishing, stealing, calling the next engine.
// SPDX-License-Identifier: MIT
#include "ready/stealable_executor.hpp"

#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/runtime.hpp>
#include <thread>

#include "growth/stall_watch.hpp"
#include "ready/engine_lane.hpp"
#include "ready/lane_owner.hpp"

namespace tandem::inline v0::io {

namespace {
constexpr std::size_t injected_at_once = 16;
}

stealable_executor::stealable_executor(runtime& owner, unsigned most)
    : owner_(owner),
      name_(owner.options().name + "-io"),
      lanes_(std::make_unique<std::atomic<engine_lane*>[]>(most)) {}

void stealable_executor::add(engine_lane& lane) noexcept {
  lanes_[added_++].store(&lane, std::memory_order_relaxed);  // published by open()
}

void stealable_executor::open(unsigned count) noexcept {
  // One at a time. seq_cst: pairs with notify().
  if (count > count_.load(std::memory_order_relaxed))
    count_.store(count, std::memory_order_seq_cst);
}

engine_lane* stealable_executor::current() const noexcept {
  lane_owner* const here = lane_owner::current();
  return here != nullptr && &here->lane().shared() == this ? &here->lane() : nullptr;
}

bool stealable_executor::is_current() const noexcept { return current() != nullptr; }

void stealable_executor::post(job* item, post_kind kind) noexcept {
  job_list one;
  one.push_back(item);
  post_batch(one, kind);
}

void stealable_executor::post_batch(job_list items, post_kind kind) noexcept {
  if (items.empty()) return;
  const std::size_t count = items.size();
  if (engine_lane* const here = current()) {
    while (job* const item = items.pop_front()) {
      tandem::detail::hold_clock(owner_);  // ring_sleep/clock: until it has run
      here->publish(item);
    }
    // What the running segment leaves for itself is no reason to wake anybody.
    if (count > 1 || kind == post_kind::spawn || here->open_part().size() > 1) notify();
    return;
  }
  tandem::detail::refuse_if_forked(owner_, "executor::post");  // noexcept: terminates
  posting_.fetch_add(1, std::memory_order_relaxed);            // published by the push
  for (std::size_t i = 0; i < count; ++i) tandem::detail::hold_clock(owner_);
  injected_.push(items);
  notify();
  posting_.fetch_sub(1, std::memory_order_release);  // pairs with wait_for_posts()
}

void stealable_executor::wait_for_posts() noexcept {
  // acquire: pairs with post_batch.
  while (posting_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

engine_lane* stealable_executor::sleeper() const noexcept {
  const unsigned count = count_.load(std::memory_order_seq_cst);
  for (unsigned i = 0; i < count; ++i) {
    engine_lane* const each = lanes_[i].load(std::memory_order_relaxed);  // by count_
    if (each->sleep().asleep()) return each;
  }
  return nullptr;
}

void stealable_executor::notify() noexcept {
  // stealable/call. seq_cst, after what was published: either we see the sleeper's flag, or it sees
  // what is there (stealable/take); and whoever searches looks once more after it has said that it
  // does not any more.
  do {
    if (searching_.load(std::memory_order_seq_cst)) return;
    engine_lane* const called = sleeper();
    if (called == nullptr) return;
    if (searching_.exchange(true, std::memory_order_seq_cst)) return;
    if (called->sleep().wake_to_search()) return;
    // It was woken by something else. Others may have relied on our call meanwhile.
    searching_.store(false, std::memory_order_seq_cst);
  } while (has_work());
}

bool stealable_executor::has_work() const noexcept {
  if (!injected_.empty()) return true;
  const unsigned count = count_.load(std::memory_order_seq_cst);
  for (unsigned i = 0; i < count; ++i) {
    if (!lanes_[i].load(std::memory_order_relaxed)->open_part().empty()) return true;
  }
  return false;
}

void stealable_executor::search_ended() noexcept {
  searching_.store(false, std::memory_order_seq_cst);  // stealable/call: before the look
  if (has_work()) notify();
}

void stealable_executor::take_injected(engine_lane& here) noexcept {
  for (std::size_t i = 0; i < injected_at_once && !injected_.empty(); ++i) {
    job* const item = injected_.pop();
    if (item == nullptr) return;
    here.publish(item);
  }
}

job* stealable_executor::steal_for(engine_lane& here, std::uint32_t& count) noexcept {
  const unsigned lanes = count_.load(std::memory_order_acquire);
  for (unsigned i = 1; i < lanes; ++i) {
    engine_lane& victim = *lanes_[(here.index() + i) % lanes].load(std::memory_order_relaxed);
    if (&victim == &here) continue;
    if (job* const first = victim.open_part().steal_half(here.open_part(), count)) return first;
  }
  return nullptr;
}

void stealable_executor::kick_watch() noexcept {
  if (watch_ != nullptr) watch_->kick();
}

}  // namespace tandem::inline v0::io
