// source_entries.cpp: the buffers of receives are given to the kernel, or kept.
// SPDX-License-Identifier: MIT
#include "uring/source_entries.hpp"

#include <cstddef>

namespace tandem::inline v0::io {

void source_entries::use_buffers(io_uring& ring, detail::receive_buffers& buffers) noexcept {
  buffers_ = &buffers;
  stock_ = none;
  register_buffer_ring(ring);
}

/// Since 5.19. Where it is refused buffers come from our own stock.
void source_entries::register_buffer_ring(io_uring& ring) noexcept {
  constexpr std::size_t page = 4096;
  const std::uint32_t count = buffers_->at_once();
  void* const memory =
      std::aligned_alloc(page, (count * sizeof(io_uring_buf) + page - 1) / page * page);
  if (memory == nullptr) return;
  io_uring_buf_reg request{};
  request.ring_addr = reinterpret_cast<std::uintptr_t>(memory);  // NOLINT
  request.ring_entries = count;
  request.bgid = buffer_group;
  if (io_uring_register_buf_ring(&ring, &request, 0) != 0) {
    std::free(memory);
    return;
  }
  buffer_ring_ = static_cast<io_uring_buf_ring*>(memory);
  io_uring_buf_ring_init(buffer_ring_);
}

}  // namespace tandem::inline v0::io
