// interest_table.cpp: a chunk more when none is free.
// SPDX-License-Identifier: MIT
#include "direct/interest_table.hpp"

#include <new>
#include <utility>

namespace tandem::inline v0::io {

interest_table::~interest_table() {
  // One after the other: there may be many.
  while (chunks_ != nullptr) chunks_ = std::move(chunks_->next);
}

detail::interest* interest_table::take() noexcept {
  const std::lock_guard guard(lock_);
  if (free_ == nullptr) {
    std::unique_ptr<chunk> fresh(new (std::nothrow) chunk);
    if (fresh == nullptr) return nullptr;
    for (auto each = fresh->each.rbegin(); each != fresh->each.rend(); ++each) {
      each->next_free = std::exchange(free_, &*each);
    }
    fresh->next = std::move(chunks_);
    chunks_ = std::move(fresh);
    newest_.store(chunks_.get(), std::memory_order_release);  // pairs with waits()
  }
  return std::exchange(free_, free_->next_free);
}

void interest_table::give_back(detail::interest& one) noexcept {
  const std::lock_guard guard(lock_);
  one.next_free = std::exchange(free_, &one);
}

std::uint64_t interest_table::waits() const noexcept {
  std::uint64_t sum = 0;
  const chunk* here = newest_.load(std::memory_order_acquire);
  for (; here != nullptr; here = here->next.get()) {
    for (const detail::interest& each : here->each) sum += each.waits();
  }
  return sum;
}

bool interest_table::any_waits() const noexcept {
  const chunk* here = newest_.load(std::memory_order_acquire);
  for (; here != nullptr; here = here->next.get()) {
    for (const detail::interest& each : here->each) {
      if (each.waits() != 0) return true;
    }
  }
  return false;
}

}  // namespace tandem::inline v0::io
