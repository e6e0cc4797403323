// byte_queue.cpp: growing, moving and searching a queue of bytes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <tandem/config.hpp>
#include <tandem/io/detail/byte_queue.hpp>

namespace tandem::inline v0::io::detail {

std::span<std::byte> byte_queue::room() {
  if (end_ == data_.size()) make_room(std::max<std::size_t>(1, data_.size() - size()));
  return std::span(data_).subspan(end_);
}

void byte_queue::append(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (data_.size() - end_ < bytes.size()) make_room(bytes.size());
  std::memcpy(data_.data() + end_, bytes.data(), bytes.size());
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
  std::memcpy(out.data(), data_.data() + begin_, count);
  consume(count);
  return count;
}

void byte_queue::put_back(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (begin_ < bytes.size()) make_room(0, bytes.size());
  begin_ -= bytes.size();
  std::memcpy(data_.data() + begin_, bytes.data(), bytes.size());
}

std::size_t byte_queue::find(std::string_view text, std::size_t from) const noexcept {
  const auto* const first = reinterpret_cast<const char*>(data_.data()) + begin_;  // NOLINT
  const std::size_t at = std::string_view(first, size()).find(text, from);
  return at == std::string_view::npos ? npos : at;
}

void byte_queue::make_room(std::size_t more, std::size_t before) {
  const std::size_t count = size();
  const std::size_t needed = before + count + more;
  if (needed <= data_.size()) {  // enough, if what is held is moved
    std::memmove(data_.data() + before, data_.data() + begin_, count);
  } else {
    std::vector<std::byte> larger(std::max({needed, 2 * data_.size(), first_capacity_}));
    if (count != 0) std::memcpy(larger.data() + before, data_.data() + begin_, count);
    data_.swap(larger);
  }
  begin_ = before;
  end_ = before + count;
}

}  // namespace tandem::inline v0::io::detail
