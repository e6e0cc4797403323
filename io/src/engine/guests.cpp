// guests.cpp: an engine takes in completion threads and lets them go.
// SPDX-License-Identifier: MIT
#include "engine/guests.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/completion_engine.hpp"
#include "engine/moves.hpp"

namespace tandem::inline v0::io {

guests::guests(completion_engine& engine, moves& moved, unsigned most)
    : engine_(engine), moves_(moved) {
  hosted_.reserve(most);
}

void guests::open() noexcept {
  const std::lock_guard guard(moves_.lock_);
  leaving_ = false;
}

void guests::look() noexcept {
  const std::lock_guard guard(moves_.lock_);
  requested_.store(false, std::memory_order_relaxed);
  host* each = std::exchange(requests_, nullptr);
  while (each != nullptr) {
    host& guest = *std::exchange(each, std::exchange(each->next_request_, nullptr));
    guest.requested_ = false;
    if (guest.engine_.load(std::memory_order_relaxed) != &engine_) {  // under the lock
      // It was given away after the request: the new engine's now.
      moves::request(guest)->sleeping().wake();
      continue;
    }
    if (std::find(hosted_.begin(), hosted_.end(), &guest) == hosted_.end()) {
      hosted_.push_back(&guest);  // moving/exchange
    }
    if (guest.wanted_ == &engine_ || guest.moving_) continue;
    guest.waits_to_move_ = guest.lent_ != 0;  // lending/keep
    if (!guest.waits_to_move_) begin_move(guest);
  }
}

void guests::ask_again(host& guest) noexcept {
  const std::lock_guard guard(moves_.lock_);
  (void)moves::request(guest);
}

void guests::begin_move(host& guest) noexcept {
  // moving/cancel
  guest.moving_ = true;
  any_moving_ = true;
  guest.sources_.hold_back();
  engine_.ring().stock().release_all_of(guest);
  engine_.ring().sweep();
}

bool guests::is_with_ring(const host& guest) noexcept {
  return guest.in_flight_ != 0 || guest.sources_.any_armed();
}

completion_engine* guests::hand_on(std::size_t index) noexcept {
  host& guest = *hosted_[index];
  const std::lock_guard guard(moves_.lock_);
  guest.moving_ = false;
  while (job* const request = guest.deferred_.pop_front()) guest.local_.push_back(request);
  if (guest.wanted_ == &engine_) return nullptr;
  hosted_[index] = hosted_.back();
  hosted_.pop_back();
  // moving/exchange. Release: the new engine has all we know of it. seq_cst: pairs with
  // completion_thread::impl::push.
  guest.engine_.store(guest.wanted_, std::memory_order_seq_cst);
  return moves::request(guest);
}

void guests::let_go() noexcept {
  bool any_left = false;
  for (std::size_t i = 0; i < hosted_.size();) {
    const host& guest = *hosted_[i];
    if (!guest.moving_) {
      ++i;
    } else if (is_with_ring(guest)) {
      any_left = true;
      ++i;
    } else if (completion_engine* const next = hand_on(i)) {
      next->sleeping().wake();
    }
  }
  any_moving_ = any_left;
}

bool guests::may_leave() const noexcept {
  if (!hosted_.empty()) return false;
  const std::lock_guard guard(moves_.lock_);
  if (!leaving_ || requests_ != nullptr) return false;
  // Given to us, though the request that says so is still in the hands of whoever gave it
  // (moving/ask).
  return std::none_of(moves_.threads_.begin(), moves_.threads_.end(), [this](const host* each) {
    return each->engine_.load(std::memory_order_relaxed) == &engine_;  // under the lock
  });
}

}  // namespace tandem::inline v0::io
