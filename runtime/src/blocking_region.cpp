// blocking_region.cpp: tells the control of the pool. Protocol J5.
// SPDX-License-Identifier: MIT
#include <tandem/blocking_region.hpp>

#include <tandem/detail/thread_context.hpp>

#include "worker_pool_impl.hpp"

namespace tandem::inline v0 {

namespace {

detail::worker* worker_to_tell() noexcept {
  detail::worker* const self = detail::this_thread().current_worker;
  if (self == nullptr || self->owner.control() == nullptr) return nullptr;
  return self->blocks.load(std::memory_order_relaxed) ? nullptr : self;  // own word
}

}  // namespace

blocking_region::blocking_region() noexcept : worker_(worker_to_tell()) {
  if (worker_ == nullptr) return;
  worker_->blocks.store(true, std::memory_order_relaxed);
  worker_->owner.expose(*worker_);
  worker_->owner.control()->region_began();
  worker_->owner.wake_one();
}

blocking_region::~blocking_region() {
  if (worker_ == nullptr) return;
  worker_->blocks.store(false, std::memory_order_relaxed);
  worker_->owner.control()->region_ended();
}

}  // namespace tandem::inline v0
