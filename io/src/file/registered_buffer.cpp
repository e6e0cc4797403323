// registered_buffer.cpp: a slot for aligned memory, as long as that lives.
// SPDX-License-Identifier: MIT
#include <tandem/io/buffers_in_flight.hpp>
#include <tandem/io/registered_buffer.hpp>
#include <utility>

#include "ring/buffer_slots.hpp"

namespace tandem::inline v0::io {

registered_buffer::registered_buffer(std::size_t size, std::size_t alignment)
    : memory_(size, alignment) {
  if (size == 0) return;
  slot_ = take_buffer_slot(memory_.data(), size);  // registered/take
  if (slot_ < 0) return;
  // Else a ring that registers it waits for each page, and with it whoever is served there.
  constexpr std::size_t least_page = 4096;
  volatile std::byte* const pages = memory_.data();
  for (std::size_t at = 0; at < size; at += least_page) pages[at] = std::byte{};
}

registered_buffer::registered_buffer(registered_buffer&& other) noexcept
    : memory_(std::move(other.memory_)), slot_(std::exchange(other.slot_, -1)) {}

registered_buffer& registered_buffer::operator=(registered_buffer&& other) noexcept {
  registered_buffer taken(std::move(other));  // has ours afterwards, and ends them
  std::swap(memory_, taken.memory_);
  std::swap(slot_, taken.slot_);
  return *this;
}

registered_buffer::~registered_buffer() {
  if (memory_.size() != 0) check_no_buffer_in_flight(memory_.data(), memory_.size());
  if (slot_ >= 0) give_back_buffer_slot(slot_);  // registered/end
}

}  // namespace tandem::inline v0::io
