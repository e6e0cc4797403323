// engine_lane.cpp: publishing, taking over, looking outside.
// SPDX-License-Identifier: MIT
#include "ready/engine_lane.hpp"

#include <utility>

#include "ready/stealable_executor.hpp"

namespace tandem::inline v0::io {

void engine_lane::publish(job* item) noexcept {
  if (!lane_.push(item)) shared_.inject(item);  // stealable/publish
}

void engine_lane::publish_reaped() noexcept {
  if (reaped_.empty()) return;
  while (job* const item = reaped_.pop_front()) publish(item);
  if (lane_.size() > 1) shared_.notify();
}

job* engine_lane::take() noexcept {
  return first_ != nullptr ? std::exchange(first_, nullptr) : lane_.pop();
}

bool engine_lane::steal() noexcept {
  std::uint32_t count = 0;
  first_ = shared_.steal_for(*this, count);
  if (first_ == nullptr) return false;
  stolen_.add(count);
  return true;
}

void engine_lane::look_outside(bool has_jobs) noexcept {
  if (!sleep_.is_called()) {
    shared_.take_injected(*this);
    return;
  }
  if (!has_jobs) (void)steal();
  shared_.take_injected(*this);
  (void)sleep_.end_call();
  shared_.search_ended();  // stealable/call: whoever finds more work calls the next one
}

void engine_lane::give_away() noexcept {
  while (job* const item = lane_.pop()) shared_.inject(item);
  shared_.notify();
}

void engine_lane::end() noexcept {
  if (sleep_.end_call()) shared_.search_ended();  // stealable/call
}

}  // namespace tandem::inline v0::io
