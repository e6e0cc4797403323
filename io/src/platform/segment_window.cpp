// segment_window.cpp: moving a window over a list of buffers.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <tandem/io/detail/segment_window.hpp>

namespace tandem::inline v0::io::detail {

void segment_window::fill() noexcept {
  for (; left_ != 0 && count_ < capacity; --left_) {
    segment next{nullptr, 0};
    if (filled_ != nullptr) {
      next = {filled_->data(), filled_->size()};
      ++filled_;
    } else {
      next = {const_cast<std::byte*>(sent_->data()),
              sent_->size()};  // NOLINT: the kernel only reads
      ++sent_;
    }
    if (next.bytes != 0) segments_[count_++] = next;
  }
}

bool segment_window::advance(std::size_t bytes) noexcept {
  std::size_t gone = 0;
  while (gone < count_ && bytes >= segments_[gone].bytes) bytes -= segments_[gone++].bytes;
  std::copy(segments_.begin() + static_cast<std::ptrdiff_t>(gone),
            segments_.begin() + static_cast<std::ptrdiff_t>(count_), segments_.begin());
  count_ -= gone;
  if (bytes != 0) {
    segments_[0].data = static_cast<std::byte*>(segments_[0].data) + bytes;
    segments_[0].bytes -= bytes;
  }
  fill();
  return count_ != 0;
}

}  // namespace tandem::inline v0::io::detail
