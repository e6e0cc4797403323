// engine_buffers.cpp: an engine's receive buffers, and the receivers that wait for one.
// SPDX-License-Identifier: MIT
#include <utility>

#include "engine/completion_engine.hpp"
#include "receive/receive_buffers.hpp"
#include "receive/receiver.hpp"

namespace tandem::inline v0::io {

void completion_engine::feed_receivers() noexcept {
  constexpr std::uint32_t none = detail::receive_buffers::none;
  for (std::uint32_t each = buffers_->take_returned(); each != none;) {
    const std::uint32_t older = buffers_->next(each);
    provide_buffer(each);
    each = older;
  }
  if (starving_ == nullptr) return;
  bool refused = false;
  if (free_buffers_ == 0) {
    // Slow readers have them all, and the others must not wait for those.
    if (buffers_->is_at_limit()) return;
    const std::uint32_t first = buffers_->count();
    refused = !buffers_->grow();
    for (std::uint32_t i = first; i < buffers_->count(); ++i) provide_buffer(i);
  }
  buffers_->set_starving(false);
  detail::receiver* hungry = std::exchange(starving_, nullptr);
  while (hungry != nullptr) {
    detail::receiver* const next = std::exchange(hungry->next_starving, nullptr);
    hungry->previous_starving = nullptr;
    if (refused) [[unlikely]] {
      hungry->refuse();
    } else {
      hungry->go_on();
    }
    hungry = next;
  }
}

bool completion_engine::can_feed() const noexcept {
  // leases/starve. Some have come back since the last look: from other threads, or on this one,
  // which woke nobody.
  return starving_ != nullptr && (free_buffers_ != 0 || buffers_->any_returned());
}

void completion_engine::provide_buffer(std::uint32_t index) noexcept {
  if (free_buffers_ == buffers_->at_once()) {
    buffers_->next(index) = spare_buffers_;
    spare_buffers_ = index;
    ++spare_count_;
    return;
  }
  ++free_buffers_;
  backend_->provide_buffer(index);
}

void completion_engine::buffer_taken() noexcept {
  --free_buffers_;
  if (spare_count_ == 0) return;
  const std::uint32_t index = spare_buffers_;
  spare_buffers_ = buffers_->next(index);
  --spare_count_;
  provide_buffer(index);
}

void completion_engine::starves(detail::receiver& target) noexcept {
  target.next_starving = starving_;
  if (starving_ != nullptr) starving_->previous_starving = &target;
  starving_ = &target;
  // What came back before this is seen by feed_receivers(), or before the thread sleeps.
  buffers_->set_starving(true);
}

void completion_engine::stops_starving(detail::receiver& target) noexcept {
  detail::receiver* const next = std::exchange(target.next_starving, nullptr);
  detail::receiver* const previous = std::exchange(target.previous_starving, nullptr);
  (previous != nullptr ? previous->next_starving : starving_) = next;
  if (next != nullptr) next->previous_starving = previous;
  if (starving_ == nullptr) buffers_->set_starving(false);
}

}  // namespace tandem::inline v0::io
