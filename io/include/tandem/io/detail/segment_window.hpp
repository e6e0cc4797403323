// segment_window.hpp: the next few buffers of a list, as the system takes them.
// SPDX-License-Identifier: MIT
//
// A vectored transfer may have any number of buffers, an await has room for a few: the window
// stands on the next ones that are not empty, and moves on as they are done. So there is no
// allocation and no limit (IOV_MAX). The list stays the caller's, and is not changed.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io::detail {

/// Laid out as struct iovec (checked where the system gets it).
struct segment {
  void* data;
  std::size_t bytes;
};

class TANDEM_IO_API segment_window {
 public:
  static constexpr std::size_t capacity = 16;

  explicit segment_window(std::span<const std::span<std::byte>> list) noexcept
      : filled_(list.data()), left_(list.size()) {}
  explicit segment_window(std::span<const std::span<const std::byte>> list) noexcept
      : sent_(list.data()), left_(list.size()) {}

  /// Takes further buffers while there is room.
  void fill() noexcept;
  /// `bytes` from the start are done. @returns whether any are left
  bool advance(std::size_t bytes) noexcept;

  bool empty() const noexcept { return count_ == 0; }
  /// Whether buffers follow that are not in the window. (They may be empty ones.)
  bool more() const noexcept { return left_ != 0; }
  std::span<segment> segments() noexcept { return std::span(segments_).first(count_); }

 private:
  // The rest of the list, of either kind; the other one is null.
  const std::span<std::byte>* filled_ = nullptr;
  const std::span<const std::byte>* sent_ = nullptr;
  std::size_t left_;
  std::size_t count_ = 0;
  std::array<segment, capacity> segments_;  // written by fill()
};

}  // namespace tandem::inline v0::io::detail
