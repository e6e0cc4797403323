// migration.cpp: completion threads move from one engine to another. moving: io/src/engine/README.md.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <thread>
#include <utility>

#include "engine/completion_engine.hpp"
#include "engine/moves.hpp"
#include "engine/stealable_executor.hpp"
#include "receive/receiver.hpp"

namespace tandem::inline v0::io {

completion_engine* moves::request(completion_thread::impl& thread) noexcept {
  completion_engine& host = *thread.engine_.load(std::memory_order_relaxed);  // under the lock
  if (!std::exchange(thread.requested_, true)) {
    thread.next_request_ = std::exchange(host.requests_, &thread);
  }
  host.requested_.store(true, std::memory_order_seq_cst);  // pairs with sleep()
  return &host;
}

void moves::send(completion_thread::impl& thread, completion_engine& engine) noexcept {
  completion_engine* host = nullptr;
  {
    const std::lock_guard guard(lock_);
    thread.wanted_ = &engine;
    host = request(thread);
  }
  host->wake();
}

void moves::retire(completion_engine& engine, completion_engine& survivor) noexcept {
  {
    const std::lock_guard guard(lock_);
    engine.leaving_ = true;
    for (completion_thread::impl* const each : threads_) {
      if (each->wanted_ != &engine) continue;
      each->wanted_ = &survivor;
      // On its way to `engine`: whoever gives it away looks at the wish then.
      if (each->engine_.load(std::memory_order_relaxed) == &engine) (void)request(*each);
    }
    engine.requested_.store(true, std::memory_order_seq_cst);  // it may host nobody
  }
  engine.wake();
}

void moves::settle() noexcept {
  // moving/end. Nothing is in flight that would not end at once, so moves do.
  const auto settled = [this] {
    const std::lock_guard guard(lock_);
    return std::all_of(threads_.begin(), threads_.end(), [](const completion_thread::impl* each) {
      return !each->requested_ && each->engine_.load(std::memory_order_relaxed) == each->wanted_;
    });
  };
  while (!settled()) std::this_thread::yield();
}

void completion_engine::handle_requests() noexcept {
  const std::lock_guard guard(moves_.lock_);
  requested_.store(false, std::memory_order_relaxed);
  host* each = std::exchange(requests_, nullptr);
  while (each != nullptr) {
    host& guest = *std::exchange(each, std::exchange(each->next_request_, nullptr));
    guest.requested_ = false;
    if (guest.engine_.load(std::memory_order_relaxed) != this) {  // under the lock
      moves::request(guest)->wake();  // it was given away after the request: the new engine's now
      continue;
    }
    if (std::find(hosted_.begin(), hosted_.end(), &guest) == hosted_.end()) {
      hosted_.push_back(&guest);  // moving/exchange
    }
    if (guest.wanted_ != this && !guest.moving_) begin_move(guest);
  }
}

void completion_engine::begin_move(host& guest) noexcept {
  // moving/cancel
  guest.moving_ = true;
  any_moving_ = true;
  has_swept_ = true;
  for (detail::multishot* each = guest.sources_; each != nullptr; each = each->next) {
    each->hold_back();
  }
  take_from_starving(guest);
  backend_->cancel_all();
}

void completion_engine::take_from_starving(host& guest) noexcept {
  for (detail::receiver* each = starving_; each != nullptr;) {
    detail::receiver* const next = each->next_starving;
    if (each->is_of(guest)) {
      stops_starving(*each);
      each->go_on();  // by way of the deferred requests
    }
    each = next;
  }
}

void completion_engine::continue_moves() noexcept {
  // moving/drain
  bool any_left = false;
  for (std::size_t i = 0; i < hosted_.size();) {
    host& guest = *hosted_[i];
    if (!guest.moving_) {
      ++i;
      continue;
    }
    bool armed = guest.in_flight_ != 0;
    for (detail::multishot* each = guest.sources_; each != nullptr; each = each->next) {
      armed = armed || each->is_armed();
    }
    if (armed) {
      any_left = true;
      ++i;
      continue;
    }
    completion_engine* next = nullptr;
    {
      const std::lock_guard guard(moves_.lock_);
      guest.moving_ = false;
      while (job* const request = guest.deferred_.pop_front()) guest.local_.push_back(request);
      if (guest.wanted_ != this) {
        hosted_[i] = hosted_.back();
        hosted_.pop_back();
        // moving/exchange. Release: the new engine has all we know of it. seq_cst: pairs with
        // push_inbox.
        guest.engine_.store(guest.wanted_, std::memory_order_seq_cst);
        next = moves_.request(guest);
      }
    }
    if (next != nullptr) next->wake();
  }
  any_moving_ = any_left;
}

bool completion_engine::leave() noexcept {
  // moving/leave
  if (!hosted_.empty()) return false;
  {
    const std::lock_guard guard(moves_.lock_);
    if (!leaving_ || requests_ != nullptr) return false;
    // Given to us, though the request that says so is still in the hands of whoever gave it
    // (moving/ask).
    for (const host* const each : moves_.threads_) {
      if (each->engine_.load(std::memory_order_relaxed) == this) return false;  // under the lock
    }
  }
  while (job* const item = lane_.pop()) shared_.inject(item);
  shared_.notify();
  return true;
}

}  // namespace tandem::inline v0::io
