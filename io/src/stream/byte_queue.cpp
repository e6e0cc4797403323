// byte_queue.cpp: growing, moving and searching a queue of bytes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <tandem/config.hpp>
#include <tandem/io/detail/byte_queue.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

byte_queue::spare::spare(std::size_t size)
    : data_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}

std::span<std::byte> byte_queue::room() {
  if (end_ == memory_.size_) make_room(std::max<std::size_t>(1, memory_.size_ - size()));
  return {memory_.data_.get() + end_, memory_.size_ - end_};
}

void byte_queue::append(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (memory_.size_ - end_ < bytes.size()) make_room(bytes.size());
  std::memcpy(memory_.data_.get() + end_, bytes.data(), bytes.size());
  end_ += bytes.size();
}

void byte_queue::consume(std::size_t count) noexcept {
  TANDEM_ASSERT(count <= size(), "more bytes were consumed than are there");
  begin_ += count;
  if (begin_ == end_) begin_ = end_ = 0;
}

std::size_t byte_queue::take(std::span<std::byte> out) noexcept {
  const std::size_t count = std::min(out.size(), size());
  if (count == 0) return 0;
  std::memcpy(out.data(), memory_.data_.get() + begin_, count);
  consume(count);
  return count;
}

void byte_queue::put_back(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (begin_ < bytes.size()) make_room(0, bytes.size());
  begin_ -= bytes.size();
  std::memcpy(memory_.data_.get() + begin_, bytes.data(), bytes.size());
}

byte_queue::spare byte_queue::spare_for(std::size_t bytes) const {
  // What fits into the first memory comes by way of it, so it is there when there is anything to
  // put back.
  return bytes < first_capacity_ || bytes <= memory_.size_ ? spare() : spare(bytes);
}

void byte_queue::put_back(std::span<const std::byte> first, std::span<const std::byte> second,
                          spare&& kept) noexcept {
  const std::size_t before = first.size() + second.size();
  if (before == 0) return;
  if (begin_ < before) {
    move_held(before + size() <= memory_.size_ ? spare() : std::move(kept), before);
  }
  TANDEM_ASSERT(end_ <= memory_.size_, "more bytes were put back than were taken");
  begin_ -= before;
  std::byte* const to = memory_.data_.get() + begin_;
  if (!first.empty()) std::memcpy(to, first.data(), first.size());
  if (!second.empty()) std::memcpy(to + first.size(), second.data(), second.size());
}

std::size_t byte_queue::find(std::string_view text, std::size_t from) const noexcept {
  const auto* const first = reinterpret_cast<const char*>(memory_.data_.get()) + begin_;  // NOLINT
  const std::size_t at = std::string_view(first, size()).find(text, from);
  return at == std::string_view::npos ? npos : at;
}

void byte_queue::make_room(std::size_t more, std::size_t before) {
  const std::size_t needed = before + size() + more;
  // Enough, if what is held is moved; else more.
  move_held(needed <= memory_.size_ ? spare()
                                    : spare(std::max({needed, 2 * memory_.size_, first_capacity_})),
            before);
}

void byte_queue::move_held(spare&& larger, std::size_t before) noexcept {
  const std::size_t count = size();
  std::byte* const to = (larger.size_ != 0 ? larger : memory_).data_.get();
  if (count != 0) std::memmove(to + before, memory_.data_.get() + begin_, count);
  if (larger.size_ != 0) std::swap(memory_, larger);
  begin_ = before;
  end_ = before + count;
}

}  // namespace tandem::inline v0::io::detail
