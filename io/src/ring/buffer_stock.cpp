// buffer_stock.cpp: buffers between the backend, those who return them and those who wait for one.
// SPDX-License-Identifier: MIT
#include "ring/buffer_stock.hpp"

#include <algorithm>
#include <utility>

namespace tandem::inline v0::io {

namespace {
constexpr std::uint32_t first_buffers = 16;  // leases/begin
}

void buffer_stock::open(backend& ring, const completion_options& options) {
  backend_ = &ring;
  buffers_ = new detail::receive_buffers(*this, options.receive_buffers,
                                         options.max_receive_buffers, options.receive_buffer_bytes);
  free_ = 0;
  fresh_ = 0;
  spare_ = detail::receive_buffers::none;
  spare_count_ = 0;
  ring.use_buffers(*buffers_);
  provide_fresh(first_buffers);
}

void buffer_stock::close() noexcept { buffers_->abandon(fresh_ - free_ - spare_count_); }

void buffer_stock::provide_fresh(std::uint32_t count) noexcept {
  for (const std::uint32_t end = std::min(fresh_ + count, buffers_->count()); fresh_ < end;) {
    provide(fresh_++);
  }
}

void buffer_stock::feed() noexcept {
  constexpr std::uint32_t none = detail::receive_buffers::none;
  for (std::uint32_t each = buffers_->take_returned(); each != none;) {
    const std::uint32_t older = buffers_->next(each);
    provide(each);
    each = older;
  }
  if (hungry_ == nullptr) return;
  bool refused = false;
  if (fresh_ < buffers_->count()) {
    // leases/begin. Also where some are said to be free: an old kernel's receives hold one each.
    std::uint32_t wanted = fresh_;
    for (const hungry_receiver* each = hungry_; each != nullptr; each = each->next_hungry) ++wanted;
    provide_fresh(wanted);
  } else if (free_ == 0) {
    // Slow readers have them all, and the others must not wait for those.
    if (buffers_->is_at_limit()) return;
    refused = !buffers_->grow();
    provide_fresh(buffers_->count() - fresh_);
  }
  buffers_->set_starving(false);
  hungry_receiver* each = std::exchange(hungry_, nullptr);
  while (each != nullptr) {
    hungry_receiver* const next = std::exchange(each->next_hungry, nullptr);
    each->previous_hungry = nullptr;
    if (refused) [[unlikely]] {
      each->refuse();
    } else {
      each->go_on();
    }
    each = next;
  }
}

bool buffer_stock::can_feed() const noexcept {
  // leases/starve. Some have come back since the last look: from other threads, or on this one,
  // which woke nobody.
  return hungry_ != nullptr && (free_ != 0 || buffers_->any_returned());
}

void buffer_stock::provide(std::uint32_t index) noexcept {
  if (free_ == buffers_->at_once()) {
    buffers_->next(index) = spare_;
    spare_ = index;
    ++spare_count_;
    return;
  }
  ++free_;
  backend_->provide_buffer(index);
}

void buffer_stock::taken() noexcept {
  --free_;
  // leases/begin. Before the last one is gone: whoever finds none has to ask again.
  if (free_ < fresh_ / 4 && fresh_ < buffers_->count()) provide_fresh(fresh_);
  if (spare_count_ == 0) return;
  const std::uint32_t index = spare_;
  spare_ = buffers_->next(index);
  --spare_count_;
  provide(index);
}

void buffer_stock::starves(hungry_receiver& target) noexcept {
  target.next_hungry = hungry_;
  if (hungry_ != nullptr) hungry_->previous_hungry = &target;
  hungry_ = &target;
  // What came back before this is seen by feed(), or before the thread sleeps.
  buffers_->set_starving(true);
}

void buffer_stock::stops_starving(hungry_receiver& target) noexcept {
  hungry_receiver* const next = std::exchange(target.next_hungry, nullptr);
  hungry_receiver* const previous = std::exchange(target.previous_hungry, nullptr);
  (previous != nullptr ? previous->next_hungry : hungry_) = next;
  if (next != nullptr) next->previous_hungry = previous;
  if (hungry_ == nullptr) buffers_->set_starving(false);
}

void buffer_stock::release_all_of(const tandem::executor& thread) noexcept {
  for (hungry_receiver* each = hungry_; each != nullptr;) {
    hungry_receiver* const next = each->next_hungry;
    if (each->is_of(thread)) {
      stops_starving(*each);
      each->go_on();  // by way of the deferred requests
    }
    each = next;
  }
}

}  // namespace tandem::inline v0::io
