// fork_lane.hpp: a worker's LIFO lane: the deque of forked children.
// SPDX-License-Identifier: MIT
//
// Chase and Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005), with the orders of Lê, Pop,
// Cohen and Zappa Nardelli (PPoPP 2013) written as operations instead of fences, which
// ThreadSanitizer understands. The owner pushes and pops at `bottom`, thieves take at `top`.
//
//   L1 push   store the slot, then bottom (release, pairs with L4)
//   L2 pop    announce bottom - 1 (seq_cst), then read top (seq_cst)
//   L3 pop    if it was the last item: compete for it by a CAS on top
//   L4 steal  read top, then bottom (both seq_cst), then the slot
//   L5 steal  CAS top; failing means that somebody else has the item
// L2 and L4 are all seq_cst, so of an owner and a thief that want one item at least one sees the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tandem/config.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

class fork_lane {
 public:
  fork_lane() {
    retired_.push_back(std::make_unique<ring>(initial_capacity));
    buffer_ = retired_.back().get();
  }
  fork_lane(const fork_lane&) = delete;
  fork_lane& operator=(const fork_lane&) = delete;

  /// Owner only.
  void push(job* item) noexcept {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);  // own word
    const std::int64_t top = top_.load(std::memory_order_acquire);  // pairs with L5: slots are free
    ring* buffer = buffer_.load(std::memory_order_relaxed);         // only the owner replaces it
    if (bottom - top > buffer->mask) [[unlikely]]
      buffer = grow(bottom, top);
    buffer->put(bottom, item);
    bottom_.store(bottom + 1, std::memory_order_release);  // L1
  }

  /// Owner only. The newest item, or null.
  job* pop() noexcept {
    std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    // Thieves only raise top, so an empty look is final.
    if (bottom <= top_.load(std::memory_order_relaxed)) return nullptr;
    bottom -= 1;
    ring* const buffer = buffer_.load(std::memory_order_relaxed);
    bottom_.store(bottom, std::memory_order_seq_cst);         // L2
    std::int64_t top = top_.load(std::memory_order_seq_cst);  // L2
    if (top < bottom) [[likely]]
      return buffer->get(bottom);
    job* item = nullptr;
    if (top == bottom &&
        top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) {  // L3
      item = buffer->get(bottom);
    }
    bottom_.store(bottom + 1, std::memory_order_relaxed);  // empty again: nothing new to publish
    return item;
  }

  /// Any thread. The oldest item, or null (empty, or lost a race).
  job* steal() noexcept {
    std::int64_t top = top_.load(std::memory_order_seq_cst);              // L4
    const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);  // L4
    if (top >= bottom) return nullptr;
    job* const item = buffer_.load(std::memory_order_acquire)->get(top);  // pairs with grow()
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst))
      return nullptr;  // L5
    return item;
  }

  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept {
    const std::int64_t top = top_.load(std::memory_order_seq_cst);
    const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);
    return bottom > top ? static_cast<std::size_t>(bottom - top) : 0;
  }

  /// Set by posters, read relaxed at every fork and join: another lane has something (D9).
  std::atomic<bool> attention{false};
  /// Owner only: joins until the flag is looked at again after one item was served.
  std::uint32_t attention_pause = 0;

 private:
  static constexpr std::int64_t initial_capacity = 256;

  struct ring {
    explicit ring(std::int64_t capacity)
        : mask(capacity - 1), slots(new std::atomic<job*>[static_cast<std::size_t>(capacity)]) {}
    // Relaxed: L1 and L4 order the slots.
    void put(std::int64_t i, job* item) noexcept {
      slots[static_cast<std::size_t>(i & mask)].store(item, std::memory_order_relaxed);
    }
    job* get(std::int64_t i) const noexcept {
      return slots[static_cast<std::size_t>(i & mask)].load(std::memory_order_relaxed);
    }
    const std::int64_t mask;
    std::unique_ptr<std::atomic<job*>[]> slots;
  };

  TANDEM_API ring* grow(std::int64_t bottom, std::int64_t top) noexcept;

  std::atomic<std::int64_t> bottom_{0};  // owner writes
  std::atomic<ring*> buffer_{nullptr};   // owner writes
  std::vector<std::unique_ptr<ring>>
      retired_;  // owner; old rings stay until the end: thieves may read
  alignas(64) std::atomic<std::int64_t> top_{0};  // thieves and owner, CAS
};

}  // namespace tandem::inline v0::detail
