// fifo_lane.hpp: the FIFO lane of a worker or a completion thread: resumes, yields and spawns.
// SPDX-License-Identifier: MIT
//
// A bounded ring that its owner fills and that owner and thieves empty from the old end by a CAS on
// `head`, with one next slot beside it. Thieves take half of the ring at once. What does not fit
// goes to the injection queue. A slot is written only after `head` has passed it, so a taker that
// has won its CAS has read a valid item.
//
// Protocol fifo_lane:
//   push    store the slot, then tail (seq_cst: pairs with the sleeper's scan, parking/announce)
//   take    read head, then tail; read the slots; CAS head forward by what was read
//   next    the next slot is exchanged whole, by anybody
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <tandem/detail/fork_lane.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

/// @tparam Atomics   std_atomics; another set in the test that explores schedules
/// @tparam Capacity  a power of two
template <class Atomics, std::uint32_t Capacity = 256>
class basic_fifo_lane {
  template <class T>
  using atomic = typename Atomics::template atomic<T>;

 public:
  static constexpr std::uint32_t capacity = Capacity;
  static_assert(std::has_single_bit(Capacity));

  /// Owner only. @returns false if the ring is full
  bool push(job* item) noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // own word
    const std::uint32_t head =
        head_.load(std::memory_order_acquire);  // pairs with fifo_lane/take's CAS
    if (tail - head >= capacity) return false;
    slots_[tail % capacity].store(item, std::memory_order_relaxed);  // ordered by fifo_lane/push
    tail_.store(tail + 1, std::memory_order_seq_cst);                // fifo_lane/push
    return true;
  }

  /// Owner only: `count` items that take() gives, or as many as fit.
  template <class Take>
  void push_some(std::size_t count, Take take) noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // own word
    std::uint32_t end = tail;
    // acquire: pairs with fifo_lane/take's CAS.
    const std::uint32_t limit = head_.load(std::memory_order_acquire) + capacity;
    for (; count > 0 && end != limit; --count, ++end) {
      slots_[end % capacity].store(take(), std::memory_order_relaxed);  // ordered by fifo_lane/push
    }
    if (end != tail) tail_.store(end, std::memory_order_seq_cst);  // fifo_lane/push
  }

  /// Owner only. The oldest item, or null.
  job* pop() noexcept {
    std::uint32_t head = head_.load(std::memory_order_acquire);
    while (true) {
      if (head == tail_.load(std::memory_order_relaxed)) return nullptr;  // own word
      job* const item = slots_[head % capacity].load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel,  // fifo_lane/take
                                      std::memory_order_acquire)) {
        return item;
      }
    }
  }

  /// Any thread but the owner: moves half of what is there into `thief`, which has room for it.
  /// @returns  one more item to run, or null
  job* steal_half(basic_fifo_lane& thief, std::uint32_t& stolen) noexcept {
    std::uint32_t head = head_.load(std::memory_order_acquire);
    const std::uint32_t into = thief.tail_.load(std::memory_order_relaxed);  // the thief's own word
    const std::uint32_t room = capacity - (into - thief.head_.load(std::memory_order_acquire));
    while (true) {
      const std::uint32_t tail = tail_.load(std::memory_order_seq_cst);  // parking/announce
      std::uint32_t count = tail - head;
      if (count == 0 || count > capacity)
        return nullptr;  // empty, or head is stale: another took it
      count -= count / 2;
      if (count > room + 1) count = room + 1;
      job* const first = slots_[head % capacity].load(std::memory_order_relaxed);
      for (std::uint32_t i = 1; i < count; ++i) {
        thief.slots_[(into + i - 1) % capacity].store(
            slots_[(head + i) % capacity].load(std::memory_order_relaxed),
            std::memory_order_relaxed);
      }
      // fifo_lane/take
      if (head_.compare_exchange_strong(head, head + count, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        // fifo_lane/push
        if (count > 1) thief.tail_.store(into + count - 1, std::memory_order_seq_cst);
        stolen += count;
        return first;
      }
    }
  }

  /// Owner only. @returns what was there before, which goes to the ring
  job* exchange_next(job* item) noexcept {
    return next_.exchange(item, std::memory_order_seq_cst);  // fifo_lane/next, parking/announce
  }
  job* take_next() noexcept {
    if (next_.load(std::memory_order_relaxed) == nullptr)
      return nullptr;                                           // a hint: fifo_lane/next decides
    return next_.exchange(nullptr, std::memory_order_acq_rel);  // fifo_lane/next
  }

  bool has_next() const noexcept { return next_.load(std::memory_order_seq_cst) != nullptr; }
  std::uint32_t size() const noexcept {
    const std::uint32_t head = head_.load(std::memory_order_seq_cst);
    const std::uint32_t count = tail_.load(std::memory_order_seq_cst) - head;
    return count <= capacity ? count : 0;
  }
  bool empty() const noexcept { return size() == 0 && !has_next(); }

 private:
  alignas(64) atomic<std::uint32_t> head_{0};  // takers, CAS
  alignas(64) atomic<std::uint32_t> tail_{0};  // owner
  atomic<job*> next_{nullptr};                 // exchanged by anybody
  std::array<atomic<job*>, capacity> slots_{};
};

using fifo_lane = basic_fifo_lane<std_atomics>;

}  // namespace tandem::inline v0::detail
