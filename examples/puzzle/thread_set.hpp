// thread_set.hpp: which threads had a part in something.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace puzzles {

/// A set of operating system threads; made for being told the same one millions of times.
///
/// @thread_safety  note(): any thread; ids(): after those that note have ended, or approximate
class thread_set {
 public:
  static constexpr std::size_t capacity = 256;  ///< further threads are left out

  thread_set() noexcept;
  thread_set(const thread_set&) = delete;
  thread_set& operator=(const thread_set&) = delete;

  /// Adds the calling thread. @cost a thread-local read when it was the last set noted here
  void note() noexcept;

  /// Thread ids of the operating system, ascending.
  std::vector<int> ids() const;

 private:
  const std::uint64_t serial_;
  std::array<std::atomic<int>, capacity> ids_{};  // filled from the front; 0 is free
};

}  // namespace puzzles
