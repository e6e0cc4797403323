// registered_buffer.hpp: memory for direct transfers that the rings know beforehand.
// SPDX-License-Identifier: MIT
//
// A transfer past the page cache has the system look up and hold each page of its buffer, and let
// go of it afterwards. Of a registered buffer each ring does so once. Protocol registered:
// io/src/uring/README.md.
#pragma once

#include <cstddef>
#include <span>
#include <tandem/config.hpp>
#include <tandem/io/aligned_buffer.hpp>
#include <tandem/io/export.hpp>
#include <type_traits>

namespace tandem::inline v0::io {

/// A part of a registered_buffer: where a span of its bytes is asked for it is one, and
/// file::read_at() and its like do more with it. Valid as long as the buffer lives, which may be
/// moved meanwhile.
///
/// @tparam Byte    std::byte, or const std::byte: that is only written to files
/// @thread_safety  as a value
template <class Byte>
class registered_part {
 public:
  Byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// pre: count <= size()
  registered_part first(std::size_t count) const noexcept { return subspan(0, count); }
  /// pre: offset + count <= size()
  registered_part subspan(std::size_t offset, std::size_t count) const noexcept {
    TANDEM_ASSERT(offset <= size_ && count <= size_ - offset,
                  "a part that is not inside of a registered buffer");
    return {data_ + offset, count, slot_};
  }
  operator std::span<Byte>() const noexcept { return {data_, size_}; }  // NOLINT
  operator std::span<const std::byte>() const noexcept                  // NOLINT
    requires(!std::is_const_v<Byte>)
  {
    return {data_, size_};
  }

  // Implementation. There is no empty one to be made of {}, which is an empty span.
  registered_part(Byte* data, std::size_t size, int slot) noexcept
      : data_(data), size_(size), slot_(slot) {}
  bool has_slot() const noexcept { return slot_ >= 0; }
  int slot() const noexcept { return slot_; }
  /// For the system, which has one form for both.
  registered_part<std::byte> without_const() const noexcept {
    return {const_cast<std::byte*>(data_), size_, slot_};  // NOLINT: a write only reads it
  }

 private:
  Byte* data_;
  std::size_t size_;
  int slot_;
};

using registered_bytes = registered_part<std::byte>;
using const_registered_bytes = registered_part<const std::byte>;

/// Owns bytes that begin at a multiple of an alignment, and that each ring of a completion thread
/// registers when it first transfers some of them: what it transfers from then on costs less. For
/// buffers that are used again and again, from 64 KiB on, with open_options::direct. Its contents
/// are not set.
///
///     tandem::io::registered_buffer block(1024 * 1024, source.direct_io_alignment());
///     std::size_t n = co_await source.read_at(block.bytes(), offset);
///     n = co_await source.read_at(block.bytes(0, 64 * 1024), offset);
///
/// The same calls make plain transfers where registering is refused (by RLIMIT_MEMLOCK, of which
/// each ring takes the buffer's size, or by an old kernel), where there are no rings, of a buffer
/// longer than 1 GiB, and of those beyond 1,024 at a time in a process. What is registered stays in
/// memory: it does not go to swap.
///
/// Ending one with a transfer in flight is a broken precondition, as for any buffer.
///
/// @thread_safety  as a value; transfers of its parts any number at a time
class TANDEM_IO_API registered_buffer {
 public:
  registered_buffer() noexcept = default;
  /// @param alignment  a power of two
  /// @throws           std::bad_alloc; std::invalid_argument
  /// @cost             its pages are touched, so that no ring has to wait for them. Registering it,
  ///                   by the first transfer on each ring, keeps that ring's thread for a while:
  ///                   some 20 ms for 128 MiB, 40 ms for 512 MiB
  explicit registered_buffer(std::size_t size, std::size_t alignment = 4096);
  registered_buffer(registered_buffer&& other) noexcept;
  /// What this had ends at once, as by the destructor.
  registered_buffer& operator=(registered_buffer&& other) noexcept;
  /// @cost  wakes each ring that has registered it, which lets go of its pages: of a large one that
  ///        keeps the ring's thread as long as registering it
  ~registered_buffer();

  registered_bytes bytes() noexcept { return {memory_.data(), memory_.size(), slot_}; }
  /// pre: offset + size <= size()
  registered_bytes bytes(std::size_t offset, std::size_t size) noexcept {
    return bytes().subspan(offset, size);
  }
  const_registered_bytes bytes() const noexcept { return {memory_.data(), memory_.size(), slot_}; }
  const_registered_bytes bytes(std::size_t offset, std::size_t size) const noexcept {
    return bytes().subspan(offset, size);
  }
  std::byte* data() noexcept { return memory_.data(); }
  const std::byte* data() const noexcept { return memory_.data(); }
  std::size_t size() const noexcept { return memory_.size(); }
  std::size_t alignment() const noexcept { return memory_.alignment(); }

 private:
  aligned_buffer memory_;
  int slot_ = -1;  // below 0: it has none, and its transfers are plain
};

}  // namespace tandem::inline v0::io
