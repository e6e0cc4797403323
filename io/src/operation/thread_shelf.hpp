// thread_shelf.hpp: pieces of memory that a thread keeps for their next use.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <new>
#include <tandem/detail/thread_exit.hpp>

namespace tandem::inline v0::io::detail {

/// Keeps up to `Most` pieces of one size, made by `::operator new`, as a chain that lies in them. It is
/// a `constinit thread_local`, of which nothing is destroyed: close() is called when the thread ends,
/// and after that it takes nothing any more, since what ends later may still give pieces back.
template <std::uint32_t Most>
class thread_shelf {
 public:
  constexpr thread_shelf() noexcept = default;
  thread_shelf(const thread_shelf&) = delete;
  thread_shelf& operator=(const thread_shelf&) = delete;

  /// @returns  the piece that was put last; nullptr if there is none
  void* take() noexcept {
    piece* const taken = last_;
    if (taken == nullptr) return nullptr;
    last_ = taken->before;
    --count_;
    return taken;
  }
  /// @param  closes  calls close() when the thread ends
  /// @returns        whether it was kept
  bool put(void* memory, tandem::detail::exit_step step,
           tandem::detail::thread_exit_function closes) noexcept {
    if (use_ == use::none)
      use_ = tandem::detail::at_thread_exit(step, closes) ? use::open : use::closed;
    if (use_ == use::closed || count_ == Most) return false;
    last_ = ::new (memory) piece{last_};
    ++count_;
    return true;
  }
  void close() noexcept {
    use_ = use::closed;
    while (void* const each = take()) ::operator delete(each);
  }

 private:
  enum class use : std::uint8_t { none, open, closed };
  struct piece {
    piece* before;
  };

  piece* last_ = nullptr;
  std::uint32_t count_ = 0;
  use use_ = use::none;
};

}  // namespace tandem::inline v0::io::detail
