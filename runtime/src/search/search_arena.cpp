// search_arena.cpp: regions of the heap, and of the system.
// SPDX-License-Identifier: MIT
#include <tandem/detail/search/search_arena.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>  // lock_guard
#include <new>

#include "platform/memory.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr std::size_t line = 64;
// A region is a quarter of all before it, so that hardly more than that is taken and not used.
constexpr std::size_t smallest_region = std::size_t{1} << 12;
constexpr std::size_t largest_region = std::size_t{1} << 21;  // a huge page
// Below, the heap has it at hand from the search before.
constexpr std::size_t smallest_mapped = std::size_t{1} << 17;

}  // namespace

search_arena::search_arena() noexcept = default;

search_arena::~search_arena() {
  for (const region& each : regions_) free(each);
}

void* search_arena::take(std::size_t bytes, std::size_t alignment) {
  const std::size_t unit = (std::max)(alignment, line);
  const std::size_t rounded = (bytes + line - 1) / line * line;
  const std::lock_guard lock(lock_);
  void* start = next_;
  if (next_ == nullptr || std::align(unit, rounded, start, left_) == nullptr) {
    add_region(rounded + (unit > line ? unit : 0));
    start = next_;
    (void)std::align(unit, rounded, start, left_);  // there is room for it
  }
  next_ = static_cast<std::byte*>(start) + rounded;
  left_ -= rounded;
  return start;
}

void search_arena::add_region(std::size_t least) {
  region added;
  added.bytes =
      std::bit_ceil((std::max)(least, std::clamp(sum_ / 4, smallest_region, largest_region)));
  added.is_of_heap = added.bytes < smallest_mapped;
  regions_.reserve(regions_.size() + 1);
  added.memory = added.is_of_heap ? platform::allocate_aligned(line, added.bytes)
                                  : platform::map_memory(added.bytes);
  if (added.memory == nullptr) throw std::bad_alloc();
  if (added.bytes >= largest_region) platform::prefer_huge_pages(added.memory, added.bytes);
  regions_.push_back(added);
  next_ = static_cast<std::byte*>(added.memory);
  left_ = added.bytes;
  sum_ += added.bytes;
}

void search_arena::free(const region& old) noexcept {
  if (old.is_of_heap) {
    platform::free_aligned(old.memory);
  } else {
    platform::unmap_memory(old.memory, old.bytes);
  }
}

}  // namespace tandem::inline v0::detail
