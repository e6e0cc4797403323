// handler_memory.hpp: where Asio keeps the handlers that wait: blocks that are used again.
// SPDX-License-Identifier: MIT
//
// After a while every wait finds a block, so nothing is allocated per operation. One thread.
#pragma once

#include <cstddef>
#include <new>

namespace tandem::inline v0::io {

class handler_memory {
 public:
  handler_memory() noexcept = default;
  handler_memory(const handler_memory&) = delete;
  handler_memory& operator=(const handler_memory&) = delete;
  ~handler_memory() {
    while (free_ != nullptr) {
      block* const gone = free_;
      free_ = gone->next;
      ::operator delete(gone);
    }
  }

  /// @throws  std::bad_alloc
  void* take(std::size_t bytes) {
    if (bytes > block_bytes) return ::operator new(bytes);
    if (free_ == nullptr) return ::operator new(block_bytes);
    block* const found = free_;
    free_ = found->next;
    return found;
  }
  void give(void* room, std::size_t bytes) noexcept {
    if (bytes > block_bytes) {
      ::operator delete(room);
    } else {
      free_ = ::new (room) block{free_};
    }
  }

 private:
  // Holds what Asio 1.22 makes of our handlers (about 130 bytes) and what later ones may add.
  static constexpr std::size_t block_bytes = 256;
  struct block {
    block* next;
  };
  block* free_ = nullptr;
};

/// What Asio asks for: an allocator over it.
template <class T>
class handler_allocator {
 public:
  using value_type = T;

  explicit handler_allocator(handler_memory& memory) noexcept : memory_(&memory) {}
  template <class U>
  handler_allocator(const handler_allocator<U>& other) noexcept  // NOLINT: allocators convert
      : memory_(other.memory()) {}

  T* allocate(std::size_t count) { return static_cast<T*>(memory_->take(count * sizeof(T))); }
  void deallocate(T* room, std::size_t count) noexcept { memory_->give(room, count * sizeof(T)); }
  handler_memory* memory() const noexcept { return memory_; }
  friend bool operator==(const handler_allocator& a, const handler_allocator& b) noexcept {
    return a.memory_ == b.memory_;
  }

 private:
  handler_memory* memory_;
};

}  // namespace tandem::inline v0::io
