// buffer_table.cpp: registering a buffer with a ring, and letting go of it.
// SPDX-License-Identifier: MIT
#include "uring/buffer_table.hpp"

#include <algorithm>

namespace tandem::inline v0::io {

bool buffer_table::update(int slot, const iovec& memory) noexcept {
  return io_uring_register_buffers_update_tag(&ring_, static_cast<unsigned>(slot), &memory, nullptr,
                                              1) == 1;
}

bool buffer_table::open() noexcept {
  // Since 5.19.
  is_refused_ =
      io_uring_register_buffers_sparse(&ring_, buffer_slot_count) != 0 || !holder_.enter();
  return !is_refused_;
}

bool buffer_table::learn(int slot) noexcept {
  if (is_refused_ || (!holder_.is_in() && !open())) return false;
  const std::uint64_t id = id_of(slot, std::memory_order_relaxed);  // as in knows()
  const std::uint64_t refused = id | buffer_holder::was_refused;
  if (holder_.known(slot) == refused) return false;
  look_for_ended();  // what they hold counts, too, where memory to be locked is short
  const std::uint64_t before = holder_.known(slot);
  // The kernel has not let go of the buffer before it. It is asked again (registered/drop).
  if (before != 0 && (before & buffer_holder::was_refused) == 0) return false;
  used_ = std::max(used_, slot + 1);
  const buffer_slot& buffer = buffer_slots[static_cast<std::size_t>(slot)];
  const bool is_known = update(slot, iovec{buffer.data, buffer.size});
  holder_.note(slot, is_known ? id : refused);
  return is_known;
}

void buffer_table::drop_ended() noexcept {
  for (int slot = 0; slot < used_; ++slot) {
    const std::uint64_t known = holder_.known(slot);
    if (known == 0 || (known & buffer_holder::was_refused) != 0) continue;
    // Relaxed: whoever gave it back did so before what we have heard.
    if (known == id_of(slot, std::memory_order_relaxed)) continue;
    if (update(slot, iovec{})) {
      holder_.note(slot, 0);
    } else {
      holder_.remind();
    }
  }
}

}  // namespace tandem::inline v0::io
