// frame_slabs.cpp: regions, slabs, and their locks.
// SPDX-License-Identifier: MIT
//
// Order of locks: a class before the regions.
#include "frame_slabs.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/futex_mutex.hpp>

#include "platform.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr std::size_t region_bytes = std::size_t{2} << 20;
constexpr std::size_t slabs_per_region = 64;
constexpr std::size_t slab_bytes = region_bytes / slabs_per_region;

/// In the list of its class while it has a free block and is in use.
struct slab {
  slab* next;
  slab* previous;
  frame_block* free;     // blocks that have come back
  std::uint32_t fresh;   // offset in the region of what was never handed out
  std::uint32_t end;     // offset of the slab's end
  std::uint32_t used;    // blocks that are out
  std::uint32_t listed;  // 1: in the list
};

/// In the list of regions while it has a free slab.
struct region {
  region* next;
  region* previous;
  std::uint64_t free_slabs;  // a bit each
  std::array<slab, slabs_per_region> slabs;
};

struct class_list {
  futex_mutex lock;
  slab* first = nullptr;  // guarded by lock, as is what stands in the slabs of the class
};

constinit std::array<class_list, frame_class_count> classes{};
constinit futex_mutex region_lock;
constinit region* first_region = nullptr;  // guarded by region_lock
constinit std::size_t region_count = 0;    // guarded by region_lock

template <class Node>
void push_front(Node*& list, Node& node) noexcept {
  node.previous = nullptr;
  node.next = list;
  if (list != nullptr) list->previous = &node;
  list = &node;
}

template <class Node>
void unlink(Node*& list, Node& node) noexcept {
  (node.previous != nullptr ? node.previous->next : list) = node.next;
  if (node.next != nullptr) node.next->previous = node.previous;
}

region& region_of(const void* inside) noexcept {
  return *reinterpret_cast<region*>(reinterpret_cast<std::uintptr_t>(inside) &  // NOLINT
                                    ~std::uintptr_t{region_bytes - 1});
}

std::size_t slab_number(const void* block) noexcept {
  return reinterpret_cast<std::uintptr_t>(block) % region_bytes / slab_bytes;  // NOLINT
}

/// Under region_lock.
region* make_region() noexcept {
  void* const memory = std::aligned_alloc(region_bytes, region_bytes);
  if (memory == nullptr) return nullptr;
  if (region_count != 0) platform::prefer_huge_pages(memory, region_bytes);
  auto* const made = ::new (memory) region;  // the slabs are set up when they are handed out
  made->free_slabs = ~std::uint64_t{0};
  ++region_count;
  push_front(first_region, *made);
  return made;
}

slab* take_slab() noexcept {
  const std::lock_guard lock(region_lock);
  region* const from = first_region != nullptr ? first_region : make_region();
  if (from == nullptr) return nullptr;
  const auto number = static_cast<std::size_t>(std::countr_zero(from->free_slabs));
  from->free_slabs &= from->free_slabs - 1;
  if (from->free_slabs == 0) unlink(first_region, *from);
  slab& taken = from->slabs[number];
  // The first slab begins behind the region's own data.
  constexpr std::size_t own_bytes = (sizeof(region) + 63) / 64 * 64;
  taken.fresh = static_cast<std::uint32_t>(number == 0 ? own_bytes : number * slab_bytes);
  taken.end = static_cast<std::uint32_t>((number + 1) * slab_bytes);
  taken.free = nullptr;
  taken.used = 0;
  return &taken;
}

void give_slab(slab& empty) noexcept {
  region& home = region_of(&empty);
  {
    const std::lock_guard lock(region_lock);
    if (home.free_slabs == 0) push_front(first_region, home);
    home.free_slabs |= std::uint64_t{1} << (&empty - home.slabs.data());
    if (~home.free_slabs != 0 || region_count == 1) return;
    unlink(first_region, home);
    --region_count;
  }
  std::free(&home);
}

/// Under the class's lock: the slab has a free block.
frame_block* take_block(slab& from, std::size_t bytes) noexcept {
  ++from.used;
  if (frame_block* const back = from.free) {
    from.free = back->next;
    return back;
  }
  void* const block = reinterpret_cast<std::byte*>(&region_of(&from)) + from.fresh;
  from.fresh += static_cast<std::uint32_t>(bytes);
  return ::new (block) frame_block;
}

}  // namespace

frame_block* take_from_slabs(std::size_t index, std::size_t most) noexcept {
  const std::size_t bytes = (index + 1) * frame_granule_bytes;
  class_list& home = classes[index];
  const std::lock_guard lock(home.lock);
  frame_block* chain = nullptr;
  for (std::size_t count = 0; count < most; ++count) {
    slab* from = home.first;
    if (from == nullptr) {
      if (chain != nullptr) break;  // enough for now
      from = take_slab();
      if (from == nullptr) return nullptr;
      push_front(home.first, *from);
      from->listed = 1;
    }
    frame_block* const block = take_block(*from, bytes);
    block->next = chain;
    chain = block;
    if (from->free == nullptr && from->fresh + bytes > from->end) {
      unlink(home.first, *from);
      from->listed = 0;
    }
  }
  return chain;
}

void give_to_slabs(std::size_t index, frame_block* chain) noexcept {
  class_list& home = classes[index];
  const std::lock_guard lock(home.lock);
  while (chain != nullptr) {
    frame_block* const block = chain;
    chain = block->next;
    slab& into = region_of(block).slabs[slab_number(block)];
    block->next = into.free;
    into.free = block;
    if (into.listed == 0) {
      push_front(home.first, into);
      into.listed = 1;
    }
    // The last one stays with its class: a task that comes and goes would fetch it again each time.
    if (--into.used != 0 || (home.first == &into && into.next == nullptr)) continue;
    unlink(home.first, into);
    give_slab(into);
  }
}

void lock_slabs() noexcept {
  for (class_list& each : classes) each.lock.lock();
  region_lock.lock();
}

void unlock_slabs() noexcept {
  region_lock.unlock();
  for (class_list& each : classes) each.lock.unlock();
}

}  // namespace tandem::inline v0::detail
