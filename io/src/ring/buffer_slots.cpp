// buffer_slots.cpp: taking a slot, and telling rings that its buffer has ended.
// SPDX-License-Identifier: MIT
#include "ring/buffer_slots.hpp"

#include <mutex>
#include <new>
#include <tandem/detail/futex_mutex.hpp>
#include <utility>

#include "backend/backend.hpp"
#include "platform/processes.hpp"

namespace tandem::inline v0::io {

constinit std::array<buffer_slot, buffer_slot_count> buffer_slots;

namespace {

constinit std::atomic<std::uint64_t> last_id{0};
constinit tandem::detail::futex_mutex list_lock;
constinit buffer_holder* first_holder = nullptr;

/// registered/fork.
bool locks_over_forks() noexcept {
  static const bool does = platform::at_fork([] { list_lock.lock(); }, [] { list_lock.unlock(); },
                                             [] {
                                               first_holder = nullptr;
                                               list_lock.unlock();
                                             });
  return does;
}

}  // namespace

int take_buffer_slot(std::byte* data, std::size_t size) noexcept {
  for (int number = 0; number < buffer_slot_count; ++number) {
    buffer_slot& slot = buffer_slots[static_cast<std::size_t>(number)];
    std::uint64_t free = slot.id.load(std::memory_order_relaxed);
    if (free != 0) continue;
    // Relaxed: only unique it has to be. (Wasted ones are no loss: 2^63 of them last.)
    const std::uint64_t id = last_id.fetch_add(2, std::memory_order_relaxed) + 2;
    // Acquire: pairs with registered/end; whoever had it is done with the rest.
    if (!slot.id.compare_exchange_strong(free, id, std::memory_order_acquire)) continue;
    slot.data = data;
    slot.size = size;
    return number;
  }
  return -1;
}

void give_back_buffer_slot(int slot) noexcept {
  buffer_slot& mine = buffer_slots[static_cast<std::size_t>(slot)];
  const std::uint64_t id = mine.id.load(std::memory_order_relaxed);  // its own
  mine.id.store(0, std::memory_order_release);                       // pairs with registered/take
  const std::lock_guard guard(list_lock);
  for (buffer_holder* each = first_holder; each != nullptr; each = each->next_) {
    if (each->known(slot) != id) continue;
    each->any_ended_.store(true, std::memory_order_release);  // pairs with registered/drop
    each->ring_->wake();
  }
}

bool buffer_holder::enter() noexcept {
  std::unique_ptr<std::uint64_t[]> made(new (std::nothrow) std::uint64_t[buffer_slot_count]());
  if (made == nullptr || !locks_over_forks()) return false;
  const std::lock_guard guard(list_lock);
  known_ = std::move(made);
  next_ = first_holder;
  first_holder = this;
  return true;
}

void buffer_holder::leave() noexcept {
  if (!is_in()) return;
  const std::lock_guard guard(list_lock);
  buffer_holder** link = &first_holder;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
  known_.reset();
}

void buffer_holder::note(int slot, std::uint64_t id) noexcept {
  const std::lock_guard guard(list_lock);
  known_[static_cast<std::size_t>(slot)] = id;
}

}  // namespace tandem::inline v0::io
