// record_rooms.hpp: memory for records on their way, lent for as long as they are.
// SPDX-License-Identifier: MIT
//
// Each thread keeps a few of two sizes, so that neither an idle connection nor a busy one has memory
// of its own, and what is encrypted next lies in memory that the cache still has.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace tandem::inline v0::io::detail {

/// Bytes that grow at their end, in lent memory.
///
/// @thread_safety  move-only; may be given back by any thread
class record_room {
 public:
  record_room() noexcept = default;
  record_room(record_room&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  record_room& operator=(record_room&& other) noexcept {
    record_room moved(std::move(other));
    std::swap(data_, moved.data_);
    std::swap(capacity_, moved.capacity_);
    std::swap(size_, moved.size_);
    return *this;
  }
  ~record_room() { give_back(); }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  /// All of its memory.
  std::span<std::byte> whole() const noexcept { return {data_, capacity_}; }

  /// post: room for so many bytes in all. @throws std::bad_alloc
  void reserve(std::size_t bytes);
  /// @throws  std::bad_alloc: then nothing was added
  void append(const void* bytes, std::size_t count);
  void give_back() noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tandem::inline v0::io::detail
