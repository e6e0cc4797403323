// aligned_buffer.hpp: memory for direct transfers.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

/// Owns bytes that begin at a multiple of an alignment. Its contents are not set. Where the same
/// memory is used again and again for transfers of 64 KiB or more, a registered_buffer costs less.
///
///     tandem::io::aligned_buffer block(64 * 1024, source.direct_io_alignment());
///     std::size_t n = co_await source.read_at(block.bytes(), offset);
///
/// @thread_safety  as a value
class TANDEM_IO_API aligned_buffer {
 public:
  aligned_buffer() noexcept = default;
  /// @param alignment  a power of two
  /// @throws           std::bad_alloc; std::invalid_argument
  explicit aligned_buffer(std::size_t size, std::size_t alignment = 4096);
  aligned_buffer(aligned_buffer&& other) noexcept;
  aligned_buffer& operator=(aligned_buffer&& other) noexcept;
  ~aligned_buffer();

  std::span<std::byte> bytes() noexcept { return {data_, size_}; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t alignment() const noexcept { return alignment_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t alignment_ = 1;
};

}  // namespace tandem::inline v0::io
