// receive_buffers.cpp: where leased buffers come back.
// SPDX-License-Identifier: MIT
#include "ring/receive_buffers.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <thread>

#include "ring/buffer_stock.hpp"
#include "ring/thread_slot.hpp"

namespace tandem::inline v0::io {

namespace detail {

namespace {
constexpr std::size_t page_bytes = 4096;
}

void receive_buffers::free_memory::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, std::align_val_t(page_bytes));
}

receive_buffers::receive_buffers(buffer_stock& owner, std::uint32_t at_once, std::uint32_t most,
                                 std::uint32_t bytes_each)
    : owner_(owner),
      owner_slot_(owner.thread_slot()),
      at_once_(at_once),
      most_(std::max(most, at_once)),
      bytes_each_(bytes_each),
      chunk_shift_(static_cast<unsigned>(std::countr_zero(at_once))),
      chunks_(std::make_unique<chunk[]>((most_ >> chunk_shift_) + 1)) {
  if (!grow()) throw std::bad_alloc();
}

bool receive_buffers::grow() noexcept {
  const std::size_t bytes = std::size_t{at_once_} * stride();
  chunk& fresh = chunks_[count_ >> chunk_shift_];
  try {
    fresh.memory.reset(
        static_cast<std::byte*>(::operator new(bytes, std::align_val_t(page_bytes))));
    fresh.notes.reset(new note[at_once_]);
  } catch (const std::bad_alloc&) {
    fresh = chunk();
    return false;
  }
  count_ += at_once_;
  return true;
}

void receive_buffers::give_back(std::uint32_t index) noexcept {
  // leases/give_back. After abandon() no thread is the owner any more, but a later one may stand at
  // its address; so the owner is asked nothing before it is held.
  std::uint32_t head = returned_.load(std::memory_order_acquire);  // pairs with abandon()
  if (head != closed && current_thread_slot() == owner_slot_) {
    owner_.provide(index);
    return;
  }
  giving_.fetch_add(1, std::memory_order_seq_cst);  // before the push: pairs with abandon()
  bool pushed = false;
  while (head != closed && !pushed) {
    note_of(index).next = head;
    // seq_cst: pairs with any_returned() and, below, with set_starving().
    pushed = returned_.compare_exchange_weak(head, index, std::memory_order_seq_cst,
                                             std::memory_order_acquire);
  }
  if (pushed && starving_.load(std::memory_order_seq_cst)) owner_.wake();
  giving_.fetch_sub(1, std::memory_order_release);  // if pushed: the last access
  if (!pushed) one_came_back(1);
}

std::uint32_t receive_buffers::take_returned() noexcept {
  if (returned_.load(std::memory_order_relaxed) == none) return none;  // a hint
  return returned_.exchange(none, std::memory_order_acquire);          // pairs with give_back()
}

void receive_buffers::abandon(std::uint32_t out) noexcept {
  // leases/end. Ourselves, too: until we are done nobody deletes it. Published by the exchange.
  missing_.store(out + 1, std::memory_order_relaxed);
  std::uint32_t each = returned_.exchange(closed, std::memory_order_seq_cst);
  while (giving_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();  // leases/end
  std::uint32_t done = 1;
  for (; each != none; each = note_of(each).next) ++done;
  one_came_back(done);
}

void receive_buffers::one_came_back(std::uint32_t how_many) noexcept {
  // leases/end. acq_rel: the last one sees that all others are done with the block.
  if (missing_.fetch_sub(how_many, std::memory_order_acq_rel) == how_many) delete this;
}

}  // namespace detail

}  // namespace tandem::inline v0::io
