// thread_shelf.hpp: pieces of memory that a thread keeps for their next use.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace tandem::inline v0::io::detail {

/// Keeps up to `Most` pieces of one size, made by `::operator new`. It is a thread-local: after its
/// end it takes nothing any more, since the thread's other thread-locals may end later.
template <std::size_t Most>
class thread_shelf {
 public:
  thread_shelf() noexcept = default;
  thread_shelf(const thread_shelf&) = delete;
  thread_shelf& operator=(const thread_shelf&) = delete;
  ~thread_shelf() {
    while (void* const piece = take()) ::operator delete(piece);
    is_closed_ = true;
  }

  /// @returns  the piece that was put last; nullptr if there is none
  void* take() noexcept { return count_ == 0 ? nullptr : kept_[--count_]; }
  /// @returns  whether it was kept
  bool put(void* piece) noexcept {
    if (is_closed_ || count_ == Most) return false;
    kept_[count_++] = piece;
    return true;
  }

 private:
  std::array<void*, Most> kept_{};
  std::size_t count_ = 0;
  bool is_closed_ = false;
};

}  // namespace tandem::inline v0::io::detail
