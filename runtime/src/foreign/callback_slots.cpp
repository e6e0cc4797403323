// callback_slots.cpp: the table of slots, and the word of each. Protocol callbacks: README.md beside this.
// SPDX-License-Identifier: MIT
#include <tandem/detail/callback_slots.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <system_error>

#include <tandem/callback.hpp>
#include <tandem/detail/futex_mutex.hpp>

namespace tandem::inline v0 {

namespace detail {

namespace {

// The word of a slot, low bits first: 29 bits of holds, one that foreign code has a hold as void*,
// two of the state, 32 of the generation.
constexpr std::uint64_t one_hold = 1;
constexpr std::uint64_t holds_mask = (std::uint64_t{1} << 29) - 1;
constexpr std::uint64_t held_by_c = std::uint64_t{1} << 29;
constexpr std::uint64_t is_armed = std::uint64_t{1} << 30;
constexpr std::uint64_t is_claimed = std::uint64_t{1} << 31;  // neither: free
constexpr unsigned generation_shift = 32;

constexpr std::uint64_t of_generation(std::uint32_t generation) noexcept {
  return std::uint64_t{generation} << generation_shift;
}
constexpr std::uint32_t generation_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> generation_shift);
}

// The second word of a slot, for streams: 31 bits that count who is inside, one that is set while
// calls may enter, 32 of the generation. Counted are the calls, one for all handles together, and
// one for the end of the stream.
constexpr std::uint64_t one_inside = 1;
constexpr std::uint64_t inside_mask = (std::uint64_t{1} << 31) - 1;
constexpr std::uint64_t is_open = std::uint64_t{1} << 31;
constexpr std::uint64_t handles_and_end = 2 * one_inside;

struct slot {
  std::atomic<std::uint64_t> word{of_generation(1)};
  std::atomic<std::uint64_t> inside{of_generation(1)};
  // Written while free, read by whoever has claimed it or is inside.
  callback_target* target = nullptr;
  std::uint32_t next_free = 0;  // under the table's lock; 0: none
};

constexpr std::size_t slots_in_block = 1024;
constexpr std::size_t most_blocks = 16'384;

/// Slots are made in blocks and stay until the end of the process: whoever holds a stale ticket may
/// look at any time. Slot 0 is nobody's.
class slot_table {
 public:
  slot& at(std::uint32_t index) noexcept {
    // acquire: pairs with grow(); a ticket that somebody made up has no block
    block* const one = blocks_[index / slots_in_block].load(std::memory_order_acquire);
    return (*one)[index % slots_in_block];
  }
  bool has(std::uint32_t index) const noexcept {
    return index != 0 && index / slots_in_block < most_blocks &&
           blocks_[index / slots_in_block].load(std::memory_order_acquire) != nullptr;
  }
  std::uint32_t take() {
    const std::lock_guard guard(lock_);
    if (first_free_ == 0) grow();
    const std::uint32_t index = first_free_;
    first_free_ = at(index).next_free;
    ++taken_;
    return index;
  }
  void give_back(std::uint32_t index) noexcept {
    const std::lock_guard guard(lock_);
    at(index).next_free = first_free_;
    first_free_ = index;
    --taken_;
  }
  std::size_t taken() noexcept {
    const std::lock_guard guard(lock_);
    return taken_;
  }

 private:
  using block = std::array<slot, slots_in_block>;

  void grow() {
    if (count_ == most_blocks) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                              "tandem::from_callback: 16 million callbacks are awaited already");
    }
    block* const made = new block;
    const auto first = static_cast<std::uint32_t>(count_ * slots_in_block);
    for (std::uint32_t i = slots_in_block; i-- > 0;) {
      if (first + i == 0) continue;
      (*made)[i].next_free = first_free_;
      first_free_ = first + i;
    }
    blocks_[count_++].store(made, std::memory_order_release);
  }

  std::array<std::atomic<block*>, most_blocks> blocks_{};
  futex_mutex lock_;
  // Under the lock.
  std::uint32_t first_free_ = 0;
  std::size_t count_ = 0;
  std::size_t taken_ = 0;
};

slot_table& table() noexcept {
  static constinit slot_table all;
  return all;
}

std::atomic<std::uint64_t> too_late{0};

/// The word if that await still waits; else 0.
std::uint64_t armed_word(slot& of, callback_ticket ticket) noexcept {
  const std::uint64_t word = of.word.load(std::memory_order_acquire);
  return generation_of(word) == ticket.generation && (word & is_armed) != 0 ? word : 0;
}

/// Changes the word as long as the await waits. `next` gives the new word. @returns the new word, or
/// 0 if it does not wait any more
template <class Next>
std::uint64_t change(callback_ticket ticket, Next next) noexcept {
  if (!ticket || !table().has(ticket.slot)) return 0;
  slot& of = table().at(ticket.slot);
  std::uint64_t seen = armed_word(of, ticket);
  while (seen != 0) {
    const std::uint64_t wanted = next(seen);
    // acq_rel: who claims sees what was written before callbacks/take, and before all drops.
    if (of.word.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
      return wanted;
    }
    if (generation_of(seen) != ticket.generation || (seen & is_armed) == 0) return 0;
  }
  return 0;
}

constexpr std::uint64_t claimed(std::uint64_t word) noexcept {
  return (word & ~(is_armed | held_by_c | holds_mask)) | is_claimed;
}

void end_if_last(callback_ticket ticket, std::uint64_t word) noexcept {
  if ((word & is_claimed) != 0) table().at(ticket.slot).target->end_dropped();
}

/// Nobody can call any more: whoever sees that ends the await.
constexpr std::uint64_t or_claimed(std::uint64_t word) noexcept {
  return (word & (holds_mask | held_by_c)) == 0 ? claimed(word) : word;
}

}  // namespace

callback_ticket take_callback_slot(callback_target& target, callback_use use) {
  const std::uint32_t index = table().take();
  slot& mine = table().at(index);
  mine.target = &target;
  // Relaxed: free, so nobody else changes it.
  const std::uint64_t word = mine.word.load(std::memory_order_relaxed);
  if (use == callback_use::stream) {
    // Before it is armed: a slot that is armed and not open is claimed by a call.
    mine.inside.store((word & ~inside_mask) | is_open | handles_and_end, std::memory_order_release);
  }
  mine.word.store(word | is_armed | one_hold, std::memory_order_release);  // callbacks/take
  return {index, generation_of(word)};
}

void give_callback_slot_back(callback_ticket ticket) noexcept {
  std::uint32_t next = ticket.generation + 1;
  if (next == 0) next = 1;
  slot& mine = table().at(ticket.slot);
  mine.inside.store(of_generation(next), std::memory_order_release);
  mine.word.store(of_generation(next), std::memory_order_release);
  table().give_back(ticket.slot);
}

bool try_claim_callback(callback_ticket ticket) noexcept { return change(ticket, claimed) != 0; }

void close_callbacks(callback_ticket ticket) noexcept {
  // release: whoever finds it closed finds it claimed, too.
  table().at(ticket.slot).inside.fetch_and(~is_open, std::memory_order_acq_rel);
}

bool leave_callbacks(callback_ticket ticket) noexcept {
  slot& of = table().at(ticket.slot);
  std::uint64_t seen = of.inside.load(std::memory_order_acquire);
  do {
    // callbacks/last_value. Nobody enters any more, and only the end is beside us: the stream is
    // told while it still has to wait for us.
    if ((seen & (is_open | inside_mask)) == 2 * one_inside) of.target->end_values();
    // acq_rel: whoever is last sees what the others did.
  } while (!of.inside.compare_exchange_weak(seen, seen - one_inside, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
  return (seen & inside_mask) == one_inside;
}

callback_call::callback_call(callback_ticket ticket) noexcept : ticket_(ticket) {
  if (ticket && table().has(ticket.slot)) {
    slot& of = table().at(ticket.slot);
    std::uint64_t seen = of.inside.load(std::memory_order_acquire);
    while (generation_of(seen) == ticket.generation && (seen & is_open) != 0) {
      // callbacks/enter. acq_rel: pairs with callbacks/take and callbacks/close.
      if (of.inside.compare_exchange_weak(seen, seen + one_inside, std::memory_order_acq_rel,
                                          std::memory_order_acquire)) {
        is_inside_ = true;
        target_ = of.target;
        return;
      }
    }
    if (try_claim_callback(ticket)) {
      target_ = of.target;
      return;
    }
  }
  too_late.fetch_add(1, std::memory_order_relaxed);  // a count
}

void hold_callback(callback_ticket ticket) noexcept {
  change(ticket, [](std::uint64_t word) { return word + one_hold; });
}

void drop_callback(callback_ticket ticket) noexcept {
  end_if_last(ticket,
              change(ticket, [](std::uint64_t word) { return or_claimed(word - one_hold); }));
}

void hold_callback_for_c(callback_ticket ticket) noexcept {
  change(ticket, [](std::uint64_t word) { return word | held_by_c; });
}

void drop_callback_of_c(callback_ticket ticket) noexcept {
  end_if_last(ticket,
              change(ticket, [](std::uint64_t word) { return or_claimed(word & ~held_by_c); }));
}

std::size_t callback_slots_in_use() noexcept { return table().taken(); }

void* to_callback_data(callback_ticket ticket) noexcept {
  static_assert(sizeof(std::uintptr_t) == 8, "a ticket has 64 bits");
  return reinterpret_cast<void*>(of_generation(ticket.generation) | ticket.slot);  // NOLINT
}

callback_ticket from_callback_data(void* data) noexcept {
  const auto word = reinterpret_cast<std::uint64_t>(data);
  return {static_cast<std::uint32_t>(word), generation_of(word)};
}

}  // namespace detail

std::uint64_t late_callbacks() noexcept { return detail::too_late.load(std::memory_order_relaxed); }

}  // namespace tandem::inline v0
