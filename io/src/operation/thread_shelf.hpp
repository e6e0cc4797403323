// thread_shelf.hpp: pieces of memory that a thread keeps for their next use.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace tandem::inline v0::io::detail {

/// Keeps up to `Most` pieces of one size, made by `::operator new`, as a chain that lies in them. It is
/// a thread-local: after its end it takes nothing any more, since the thread's other thread-locals may
/// end later.
template <std::uint32_t Most>
class thread_shelf {
 public:
  thread_shelf() noexcept = default;
  thread_shelf(const thread_shelf&) = delete;
  thread_shelf& operator=(const thread_shelf&) = delete;
  ~thread_shelf() {
    while (void* const each = take()) ::operator delete(each);
    is_closed_ = true;
  }

  /// @returns  the piece that was put last; nullptr if there is none
  void* take() noexcept {
    piece* const taken = last_;
    if (taken == nullptr) return nullptr;
    last_ = taken->before;
    --count_;
    return taken;
  }
  /// @returns  whether it was kept
  bool put(void* memory) noexcept {
    if (is_closed_ || count_ == Most) return false;
    last_ = ::new (memory) piece{last_};
    ++count_;
    return true;
  }

 private:
  struct piece {
    piece* before;
  };

  piece* last_ = nullptr;
  std::uint32_t count_ = 0;
  bool is_closed_ = false;
};

}  // namespace tandem::inline v0::io::detail
