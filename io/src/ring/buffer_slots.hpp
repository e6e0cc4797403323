// buffer_slots.hpp: numbers for registered buffers, and who has to hear of their end.
// SPDX-License-Identifier: MIT
//
// A buffer has one slot of the process for its life, and the same slot in each ring that knows it.
// A slot is used again; the id of its buffer never is. Protocol registered: ../uring/README.md.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tandem::inline v0::io {

class backend;

/// So many buffers have a slot at a time; what a ring's table of them takes is 8 KiB for us, and as
/// much for the kernel.
inline constexpr int buffer_slot_count = 1024;

struct buffer_slot {
  /// Of the buffer that has it; 0: none. Even (buffer_holder). Written by whoever takes the slot or
  /// gives it back. While an operation with its buffer is in flight it does not change; a ring that
  /// looks for ended ones reads those of others, too (registered/drop).
  std::atomic<std::uint64_t> id{0};
  // Written by whoever took it; valid while a buffer has it.
  std::byte* data = nullptr;
  std::size_t size = 0;
};

extern std::array<buffer_slot, buffer_slot_count> buffer_slots;

/// registered/take. Any thread. @returns -1: none is left
int take_buffer_slot(std::byte* data, std::size_t size) noexcept;
/// registered/end. Any thread; no operation with the buffer is in flight.
void give_back_buffer_slot(int slot) noexcept;

/// What one ring knows of which slot: 0, the id of a buffer that it has registered, or, with
/// `was_refused`, that of one that it could not register. Its ring's thread, unless said otherwise.
class buffer_holder {
 public:
  static constexpr std::uint64_t was_refused = 1;

  explicit buffer_holder(backend& ring) noexcept : ring_(&ring) {}
  buffer_holder(const buffer_holder&) = delete;
  buffer_holder& operator=(const buffer_holder&) = delete;
  ~buffer_holder() { leave(); }

  /// From now on it hears of ends. @returns false: there is no memory
  bool enter() noexcept;
  /// Nobody wakes the ring any more.
  void leave() noexcept;
  bool is_in() const noexcept { return known_ != nullptr; }
  /// pre: is_in()
  std::uint64_t known(int slot) const noexcept { return known_[static_cast<std::size_t>(slot)]; }
  void note(int slot, std::uint64_t id) noexcept;
  /// Whether a buffer has ended that was noted here: once each time.
  bool hears_of_ends() noexcept {
    // Acquire: pairs with registered/end, so that the slot's id is the new one.
    return any_ended_.load(std::memory_order_relaxed) &&
           any_ended_.exchange(false, std::memory_order_acquire);
  }
  /// It could not do what it has heard.
  void remind() noexcept { any_ended_.store(true, std::memory_order_relaxed); }  // its own thread's

 private:
  friend void give_back_buffer_slot(int slot) noexcept;

  backend* const ring_;
  buffer_holder* next_ = nullptr;  // under the list's lock
  // Written by its own thread under the list's lock, read by others under it.
  std::unique_ptr<std::uint64_t[]> known_;
  std::atomic<bool> any_ended_{false};
};

}  // namespace tandem::inline v0::io
