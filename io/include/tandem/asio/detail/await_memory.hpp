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

/// Of the handler of an await.
template <class T>
class await_allocator {
 public:
  using value_type = T;

  explicit await_allocator(await_strand& arena) noexcept : arena_(&arena) {}
  template <class U>
  await_allocator(const await_allocator<U>& other) noexcept : arena_(other.arena_) {}  // NOLINT

  T* allocate(std::size_t count) {
    if constexpr (alignof(T) > 16) return std::allocator<T>().allocate(count);
    return static_cast<T*>(arena_->allocate(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept {
    if constexpr (alignof(T) > 16) return std::allocator<T>().deallocate(block, count);
    arena_->deallocate(block, count * sizeof(T));
  }
  friend bool operator==(const await_allocator&, const await_allocator&) noexcept = default;

 private:
  template <class U>
  friend class await_allocator;
  await_strand* arena_;
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
  void emit(CancellationType type) {
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
    call_ = [](void* handler, CancellationType type) { (*static_cast<Handler*>(handler))(type); };
    destroy_ = [](void* handler) noexcept {
      std::destroy_at(static_cast<Handler*>(handler));
      if constexpr (!fits) ::operator delete(handler, std::align_val_t(alignof(Handler)));
    };
    return *made;
  }
  void clear() noexcept {
    if (std::exchange(call_, nullptr) != nullptr) destroy_(handler_);
  }

 private:
  alignas(16) std::byte bytes_[64];
  void* handler_ = nullptr;
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
