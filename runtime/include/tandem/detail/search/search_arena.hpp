// search_arena.hpp: memory that a search keeps until its end, in large pieces of the system's.
// SPDX-License-Identifier: MIT
//
// The chunks of all partitions are cut from regions that grow with the search: small ones of the
// heap, then pages of the system, huge ones where there is much to keep. So a search of millions of
// positions asks the system some dozens of times, and not for each chunk, as the heap of a thread
// does. Pages are touched first by whoever fills them. Nothing is given back before the end.
#pragma once

#include <cstddef>
#include <vector>

#include <tandem/config.hpp>
#include <tandem/detail/futex_mutex.hpp>

namespace tandem::inline v0::detail {

/// @thread_safety       any number of threads; the lock is taken for some hundred positions at once
class TANDEM_API search_arena {
 public:
  search_arena() noexcept;
  search_arena(const search_arena&) = delete;
  search_arena& operator=(const search_arena&) = delete;
  ~search_arena();

  /// At a cache line of its own, or at a multiple of `alignment`, which is 4096 at most.
  ///
  /// @throws              std::bad_alloc: the system has none
  void* take(std::size_t bytes, std::size_t alignment);

 private:
  class region {
   public:
    void* memory;
    std::size_t bytes;
    bool is_of_heap;
  };

  void add_region(std::size_t least);
  static void free(const region& old) noexcept;

  futex_mutex lock_;  // for all that follows
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t sum_ = 0;  // of all regions
  std::vector<region> regions_;
};

}  // namespace tandem::inline v0::detail
