// bound_place.cpp: counting sockets where they are bound.
// SPDX-License-Identifier: MIT
#include <tandem/io/detail/bound_place.hpp>

#include <utility>

#include "engine/completion_thread.hpp"
#include "engine/thread_loads.hpp"

namespace tandem::inline v0::io::detail {

bound_place::bound_place() noexcept = default;

bound_place::bound_place(completion_thread& thread) noexcept
    : loads_(thread.implementation().loads()), thread_(thread.index()) {
  loads_->bind(thread_);
}

bound_place::bound_place(bound_place&& other) noexcept
    : loads_(std::move(other.loads_)),
      thread_(other.thread_),
      is_settled_(other.is_settled_.exchange(false, std::memory_order_relaxed)) {}

bound_place& bound_place::operator=(bound_place&& other) noexcept {
  if (this != &other) {
    leave();
    loads_ = std::move(other.loads_);
    thread_ = other.thread_;
    is_settled_.store(other.is_settled_.exchange(false, std::memory_order_relaxed),
                      std::memory_order_relaxed);
  }
  return *this;
}

bound_place::~bound_place() { leave(); }

void bound_place::leave() noexcept {
  const std::shared_ptr<thread_loads> loads = std::move(loads_);
  if (loads == nullptr) return;
  loads->leave(thread_);
  if (is_settled_.exchange(false, std::memory_order_relaxed)) loads->leave_resident();
}

void bound_place::settle_first() noexcept {
  if (loads_ == nullptr || is_settled_.exchange(true, std::memory_order_relaxed)) return;
  loads_->settle();
}

}  // namespace tandem::inline v0::io::detail
