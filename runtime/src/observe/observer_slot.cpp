// observer_slot.cpp: the members that need the observer itself.
// SPDX-License-Identifier: MIT
#include "observe/observer_slot.hpp"

#include <utility>

#include "observe/task_observer.hpp"

namespace tandem::inline v0::detail {

observer_slot::observer_slot(std::unique_ptr<task_observer> first) noexcept
    : own_(std::move(first)), now_(own_.get()) {}

observer_slot::~observer_slot() = default;

void observer_slot::fill(std::unique_ptr<task_observer> made) noexcept {
  own_ = std::move(made);
  now_.store(own_.get(), std::memory_order_release);  // pairs with get()
}

}  // namespace tandem::inline v0::detail
