// frame_slabs.cpp: the slabs of each class, and their blocks.
// SPDX-License-Identifier: MIT
//
// Order of locks: a class before the regions.
#include "frames/frame_slabs.hpp"

#include <array>
#include <mutex>
#include <new>

#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/futex_mutex.hpp>

#include "frames/frame_regions.hpp"

namespace tandem::inline v0::detail {

namespace {

struct class_list {
  futex_mutex lock;
  frame_slab* first = nullptr;  // guarded by lock, as is what stands in the slabs of the class
  frame_slab* kept = nullptr;   // the one that stayed though it was unused; it may be used again
};

constinit std::array<class_list, frame_class_count> classes{};

/// Under the class's lock: the slab has a free block.
frame_block* take_block(frame_slab& from, std::size_t bytes) noexcept {
  ++from.used;
  if (frame_block* const back = from.free) {
    from.free = back->next;
    return back;
  }
  void* const block = reinterpret_cast<std::byte*>(&region_of(&from)) + from.fresh;
  from.fresh += static_cast<std::uint32_t>(bytes);
  return ::new (block) frame_block;
}

/// Under the class's lock.
void give_unused(class_list& home, frame_slab& unused) noexcept {
  if (home.kept == &unused) home.kept = nullptr;
  unlink(home.first, unused);
  give_slab(unused);
}

}  // namespace

frame_block* take_from_slabs(std::size_t index, std::size_t most) noexcept {
  const std::size_t bytes = (index + 1) * frame_granule_bytes;
  class_list& home = classes[index];
  const std::lock_guard lock(home.lock);
  frame_block* chain = nullptr;
  for (std::size_t count = 0; count < most; ++count) {
    frame_slab* from = home.first;
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
    frame_slab& into = region_of(block).slabs[slab_number(block)];
    block->next = into.free;
    into.free = block;
    if (into.listed == 0) {
      push_front(home.first, into);
      into.listed = 1;
    }
    // The last one stays with its class: a task that comes and goes would fetch it again each time.
    if (--into.used != 0) continue;
    if (home.first == &into && into.next == nullptr && !nobody_runs.load(relaxed)) {
      home.kept = &into;
      continue;
    }
    give_unused(home, into);
  }
}

bool trim_slabs() noexcept {
  for (class_list& each : classes) {
    const std::lock_guard lock(each.lock);
    if (each.kept != nullptr && each.kept->used == 0) give_unused(each, *each.kept);
  }
  return trim_regions();
}

void lock_slabs() noexcept {
  for (class_list& each : classes) each.lock.lock();
  lock_regions();
}

void unlock_slabs() noexcept {
  unlock_regions();
  for (class_list& each : classes) each.lock.unlock();
}

}  // namespace tandem::inline v0::detail
