// buffer_table.hpp: the buffers of users that one ring has registered.
// SPDX-License-Identifier: MIT
//
// Protocol registered: README.md of this room.
#pragma once

#include <liburing.h>

#include "ring/buffer_slots.hpp"

namespace tandem::inline v0::io {

/// Its ring's thread.
class buffer_table {
 public:
  buffer_table(io_uring& ring, backend& owner) noexcept : ring_(ring), holder_(owner) {}

  /// registered/look. Whether an entry may name the buffer in that slot, which is in use by the
  /// operation that the entry is for.
  bool knows(int slot) noexcept {
    // Relaxed: the task that took the slot has begun the operation.
    return (holder_.is_in() && holder_.known(slot) == id_of(slot, std::memory_order_relaxed)) ||
           learn(slot);
  }
  /// registered/drop. After a wake.
  void look_for_ended() noexcept {
    if (holder_.hears_of_ends()) drop_ended();
  }
  /// The ring is about to end.
  void close() noexcept { holder_.leave(); }

 private:
  static std::uint64_t id_of(int slot, std::memory_order order) noexcept {
    return buffer_slots[static_cast<std::size_t>(slot)].id.load(order);
  }
  /// registered/learn.
  bool learn(int slot) noexcept;
  /// A table without buffers. @returns false: refused, for good
  bool open() noexcept;
  /// @param memory  empty: none any more
  bool update(int slot, const iovec& memory) noexcept;
  void drop_ended() noexcept;

  io_uring& ring_;
  buffer_holder holder_;
  bool is_refused_ = false;
  int used_ = 0;  // no slot from here on was ever noted
};

}  // namespace tandem::inline v0::io
