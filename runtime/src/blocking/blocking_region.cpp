// blocking_region.cpp: tells the control of the pool. Protocol crew/region.
// SPDX-License-Identifier: MIT
#include <tandem/blocking_region.hpp>

#include <tandem/detail/thread_context.hpp>

#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0 {

namespace {

detail::worker* worker_to_tell() noexcept {
  detail::worker* const self = detail::this_thread().current_worker;
  if (self == nullptr) return nullptr;
  return self->blocks.load(std::memory_order_relaxed) ? nullptr : self;  // own word
}

}  // namespace

blocking_region::blocking_region() noexcept
    : worker_(worker_to_tell()),
      // A fixed pool may get a control while we are here (changes/control): it is told of the end
      // only if it knows of the beginning.
      told_(worker_ != nullptr ? worker_->owner.control.get() : nullptr) {
  if (worker_ == nullptr) return;
  worker_pool::impl& pool = worker_->owner;
  worker_->blocks.store(true, std::memory_order_relaxed);
  pool.order.expose(*worker_);
  if (told_ != nullptr) told_->region_began();
  if (pool.order.anything_queued()) pool.waking.wake_one();
}

blocking_region::~blocking_region() {
  if (worker_ == nullptr) return;
  worker_->blocks.store(false, std::memory_order_relaxed);
  if (told_ != nullptr) told_->region_ended();
}

}  // namespace tandem::inline v0
