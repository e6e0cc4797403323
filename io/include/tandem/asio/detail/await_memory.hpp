// await_memory.hpp: where an operation of Asio allocates, and hangs up what ends it early.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <tandem/asio/detail/await_executor.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::detail {

/// Memory in the frame that awaits, for an operation that has one step, and so allocates once.
class await_arena {
 public:
  await_arena() noexcept {}  // NOLINT: bytes stay as they are
  await_arena(const await_arena&) = delete;
  await_arena& operator=(const await_arena&) = delete;

  /// @throws  std::bad_alloc
  void* allocate(std::size_t size) {
    if (size > sizeof bytes_ || std::exchange(is_taken_, true)) return allocate_frame(size);
    return bytes_;
  }
  void deallocate(void* block, std::size_t size) noexcept {
    if (block == static_cast<void*>(bytes_)) {
      is_taken_ = false;
    } else {
      free_frame(block, size);
    }
  }

 private:
  alignas(16) std::byte bytes_[368];  // a read of a socket takes some 250
  bool is_taken_ = false;
};
class no_arena {};

/// Of the handler of an await.
template <class T, class Memory>
class await_allocator {
 public:
  using value_type = T;
  template <class U>
  struct rebind {
    using other = await_allocator<U, Memory>;
  };

  explicit await_allocator(Memory& memory) noexcept : memory_(&memory) {}
  template <class U>
  await_allocator(const await_allocator<U, Memory>& other) noexcept  // NOLINT
      : memory_(other.memory_) {}

  T* allocate(std::size_t count) {
    if constexpr (alignof(T) > 16) return std::allocator<T>().allocate(count);
    return static_cast<T*>(memory_->allocate(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept {
    if constexpr (alignof(T) > 16) return std::allocator<T>().deallocate(block, count);
    memory_->deallocate(block, count * sizeof(T));
  }
  friend bool operator==(const await_allocator&, const await_allocator&) noexcept = default;

 private:
  template <class, class>
  friend class await_allocator;
  Memory* memory_;
};

/// Where an operation hangs up what ends it early. Under the await's turn.
template <class CancellationType>
class cancellation_room {
 public:
  cancellation_room() noexcept {}  // NOLINT: bytes stay as they are
  cancellation_room(const cancellation_room&) = delete;
  cancellation_room& operator=(const cancellation_room&) = delete;
  ~cancellation_room() { clear(); }

  bool has_handler() const noexcept { return call_ != nullptr; }
  /// Whether what hangs here has not been told of anything.
  bool is_fresh() const noexcept { return is_fresh_; }
  void emit(CancellationType type) {
    is_fresh_ = false;
    if (call_ != nullptr) call_(handler_, type);
  }
  template <class Handler, class... Args>
  Handler& emplace(Args&&... args) {
    clear();
    void* room = bytes_;
    constexpr bool fits = sizeof(Handler) <= sizeof bytes_ && alignof(Handler) <= 16;
    if constexpr (!fits) room = ::operator new(sizeof(Handler), std::align_val_t(alignof(Handler)));
    auto* const made = ::new (room) Handler(std::forward<Args>(args)...);
    handler_ = made;
    is_fresh_ = true;
    call_ = [](void* handler, CancellationType type) { (*static_cast<Handler*>(handler))(type); };
    destroy_ = [](void* handler) noexcept {
      std::destroy_at(static_cast<Handler*>(handler));
      if constexpr (!fits) ::operator delete(handler, std::align_val_t(alignof(Handler)));
    };
    return *made;
  }
  void clear() noexcept {
    is_fresh_ = false;
    if (std::exchange(call_, nullptr) != nullptr) destroy_(handler_);
  }

 private:
  alignas(16) std::byte bytes_[80];  // what a read of a socket leaves there on Windows takes 72
  void* handler_ = nullptr;
  bool is_fresh_ = false;
  void (*call_)(void*, CancellationType) = nullptr;  // null: nothing hangs here
  void (*destroy_)(void*) noexcept = nullptr;
};

/// As Asio's cancellation_slot, and convertible to one, for operations that insist on it.
template <class CancellationType, class AsioSlot>
class await_slot {
 public:
  constexpr await_slot() noexcept = default;
  template <class Signal>
  await_slot(cancellation_room<CancellationType>& room, Signal& signal) noexcept
      : room_(&room), asio_(signal.slot()) {}

  bool is_connected() const noexcept { return room_ != nullptr; }
  bool has_handler() const noexcept { return room_ != nullptr && room_->has_handler(); }
  template <class Handler, class... Args>
  Handler& emplace(Args&&... args) {
    return room_->template emplace<Handler>(std::forward<Args>(args)...);
  }
  template <class Handler>
  std::decay_t<Handler>& assign(Handler&& handler) {
    return emplace<std::decay_t<Handler>>(std::forward<Handler>(handler));
  }
  void clear() {
    if (room_ != nullptr) room_->clear();
  }
  operator AsioSlot() const noexcept { return asio_; }  // NOLINT
  friend bool operator==(const await_slot& a, const await_slot& b) noexcept {
    return a.room_ == b.room_;
  }

 private:
  cancellation_room<CancellationType>* room_ = nullptr;
  AsioSlot asio_;
};

}  // namespace tandem::inline v0::detail
