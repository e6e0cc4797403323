// invoke.cpp: the thief's side of parallel_invoke, and waiting for it.
// SPDX-License-Identifier: MIT
#include <tandem/detail/invoke.hpp>

#include <algorithm>
#include <chrono>

#include "platform/futex.hpp"
#include "platform/spin_pause.hpp"
#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr unsigned looks_before_sleep = 64;
constexpr std::chrono::nanoseconds first_sleep = std::chrono::microseconds(20);
constexpr std::chrono::nanoseconds longest_sleep = std::chrono::milliseconds(1);

std::int64_t deadline_after(std::chrono::nanoseconds pause) noexcept {
  return (std::chrono::steady_clock::now().time_since_epoch() + pause).count();
}

}  // namespace

void invoke_job::begin_stolen() noexcept {
  thread_context& context = this_thread();
  interrupted_ = std::exchange(context.stolen_call, this);
  thief_.store(context.current_worker, std::memory_order_release);  // pairs with help()
}

void invoke_job::end_stolen() noexcept {
  this_thread().stolen_call = interrupted_;
  // invoke/steal. Release: publishes the result to wait(). The job may be gone after it; a wake
  // that comes too late meets somebody else's word, and does it no harm.
  if (state_.exchange(done, std::memory_order_acq_rel) == awaited) platform::wake_one(state_);
}

bool invoke_job::descends_from(const invoke_job& other) const noexcept {
  for (const invoke_job* each = inside_; each != nullptr; each = each->inside_) {
    if (each == &other) return true;
  }
  return false;
}

bool invoke_job::help(thread_context& context) noexcept {
  worker* const thief = thief_.load(std::memory_order_acquire);
  if (thief == nullptr) return false;
  job* const found = thief->forks.steal();
  if (found == nullptr) return false;
  worker& self = *context.current_worker;
  // invoke/help
  if (!is_invoke_job(*found) || !static_cast<invoke_job*>(found)->descends_from(*this)) {
    self.owner.post(found, post_kind::spawn);
    return false;
  }
  self.steals.add();
  environment* const interrupted = std::exchange(context.env, found->env);
  found->run(found);
  context.env = interrupted;
  return true;
}

void invoke_job::wait(thread_context& context) noexcept {
  unsigned looks = 0;
  std::chrono::nanoseconds pause = first_sleep;
  while (state_.load(std::memory_order_acquire) != done) {  // pairs with end_stolen()
    if (help(context)) {
      looks = 0;
      pause = first_sleep;
      continue;
    }
    if (++looks < looks_before_sleep) {
      platform::spin_pause();
      continue;
    }
    std::uint32_t seen = queued;
    if (!state_.compare_exchange_strong(seen, awaited, std::memory_order_acq_rel) && seen == done) {
      continue;
    }
    platform::wait_on(state_, awaited, deadline_after(pause));  // invoke/sleep
    pause = std::min(pause * 2, longest_sleep);
  }
}

}  // namespace tandem::inline v0::detail
