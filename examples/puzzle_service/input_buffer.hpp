// input_buffer.hpp: bytes that were read and not used yet, in one piece.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace service {

/// A window that moves over a fixed array.
class input_buffer {
 public:
  explicit input_buffer(std::size_t capacity_bytes) : bytes_(capacity_bytes) {}

  std::string_view filled() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()) + begin_, end_ - begin_};
  }
  bool empty() const noexcept { return begin_ == end_; }
  bool full() const noexcept { return end_ - begin_ == bytes_.size(); }

  /// Room for reading; what is filled moves to the front when the room gets small.
  std::span<std::byte> room() {
    if (begin_ == end_) begin_ = end_ = 0;
    if (begin_ > 0 && bytes_.size() - end_ < bytes_.size() / 2) {
      std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
                bytes_.begin() + static_cast<std::ptrdiff_t>(end_), bytes_.begin());
      end_ -= begin_;
      begin_ = 0;
    }
    return std::span(bytes_).subspan(end_);
  }
  void add(std::size_t count) noexcept { end_ += count; }
  void consume(std::size_t count) noexcept { begin_ += count; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace service
