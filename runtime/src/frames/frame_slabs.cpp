// frame_slabs.cpp: regions, slabs, and their locks.
// SPDX-License-Identifier: MIT
//
// Order of locks: a class before the regions.
#include "frames/frame_slabs.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>

#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/futex_mutex.hpp>

#include "platform/platform.hpp"

namespace tandem::inline v0::detail {

constinit std::atomic<bool> nobody_runs{false};

namespace {

constexpr std::size_t region_bytes = std::size_t{2} << 20;
constexpr std::size_t slabs_per_region = 64;
constexpr std::size_t slab_bytes = region_bytes / slabs_per_region;
constexpr std::size_t most_spare = 8;      // regions that stay while tasks run, though unused
constexpr unsigned regions_at_a_time = 8;  // trimmed before the caller looks for work: some 0.5 ms

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

/// In the list of regions while it has a free slab and is not being trimmed.
struct region {
  region* next;
  region* previous;
  std::uint64_t free_slabs;   // a bit each
  std::uint64_t stale_slabs;  // free ones that may have pages
  bool is_trimmed;            // trim_slabs() has it
  std::array<slab, slabs_per_region> slabs;
};

/// Where the first slab of the region begins: behind the region's own data.
constexpr std::size_t own_bytes = (sizeof(region) + 63) / 64 * 64;

struct class_list {
  futex_mutex lock;
  slab* first = nullptr;  // guarded by lock, as is what stands in the slabs of the class
  slab* kept = nullptr;   // the one that stayed though it was unused; it may be used again
};

constinit std::array<class_list, frame_class_count> classes{};
constinit futex_mutex region_lock;
// Guarded by region_lock; the counts are looked at without it.
constinit region* first_region = nullptr;
constinit std::size_t spare_count = 0;  // regions in the list without a used slab
constinit std::atomic<std::size_t> region_count{0};
constinit std::atomic<std::size_t> stale_count{0};  // slabs
constinit std::atomic<std::uint64_t> system_calls{0};
constexpr auto relaxed = std::memory_order_relaxed;  // written under the lock, or a count

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
  void* const memory = platform::map_memory(region_bytes);
  system_calls.fetch_add(1, relaxed);
  if (memory == nullptr) return nullptr;
  if (region_count.load(relaxed) != 0) platform::prefer_huge_pages(memory, region_bytes);
  auto* const made = ::new (memory) region;  // the slabs are set up when they are handed out
  made->free_slabs = ~std::uint64_t{0};
  made->stale_slabs = 0;
  made->is_trimmed = false;
  region_count.fetch_add(1, relaxed);
  ++spare_count;
  push_front(first_region, *made);
  return made;
}

void unmap(region& gone) noexcept {
  system_calls.fetch_add(1, relaxed);
  platform::unmap_memory(&gone, region_bytes);
}

bool is_unused(const region& each) noexcept { return ~each.free_slabs == 0; }

/// Under region_lock: the region is in no list any more, and goes.
void forget(region& unused) noexcept {
  region_count.fetch_sub(1, relaxed);
  stale_count.fetch_sub(static_cast<std::size_t>(std::popcount(unused.stale_slabs)), relaxed);
}

slab* take_slab() noexcept {
  const std::lock_guard lock(region_lock);
  region* const from = first_region != nullptr ? first_region : make_region();
  if (from == nullptr) return nullptr;
  if (is_unused(*from)) --spare_count;
  const auto number = static_cast<std::size_t>(std::countr_zero(from->free_slabs));
  const std::uint64_t bit = std::uint64_t{1} << number;
  from->free_slabs &= ~bit;
  if ((from->stale_slabs & bit) != 0) {
    from->stale_slabs &= ~bit;
    stale_count.fetch_sub(1, relaxed);
  }
  if (from->free_slabs == 0) unlink(first_region, *from);
  slab& taken = from->slabs[number];
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
    if (home.free_slabs == 0 && !home.is_trimmed) push_front(first_region, home);
    const std::uint64_t bit = std::uint64_t{1} << (&empty - home.slabs.data());
    home.free_slabs |= bit;
    home.stale_slabs |= bit;
    stale_count.fetch_add(1, relaxed);
    if (!is_unused(home) || home.is_trimmed) return;
    const bool stays =
        region_count.load(relaxed) == 1 || (spare_count < most_spare && !nobody_runs.load(relaxed));
    if (stays) {
      ++spare_count;
      return;
    }
    unlink(first_region, home);
    forget(home);
  }
  unmap(home);
}

void release_slabs(region& of, std::uint64_t bits) noexcept {
  auto* const start = reinterpret_cast<std::byte*>(&of);
  while (bits != 0) {
    // A run of them at a time.
    const auto first = static_cast<unsigned>(std::countr_zero(bits));
    const auto count = static_cast<unsigned>(std::countr_one(bits >> first));
    const unsigned end = first + count;
    platform::release_pages(start + (first == 0 ? own_bytes : first * slab_bytes),
                            start + end * slab_bytes);
    system_calls.fetch_add(1, relaxed);
    bits = end == slabs_per_region ? 0 : bits >> end << end;
  }
}

/// Out of the list into one by `next`: some regions that are unused, and some of which slabs are.
class regions_to_trim {
 public:
  regions_to_trim() noexcept {
    const std::lock_guard lock(region_lock);
    unsigned count = 0;
    for (region *each = first_region, *after = nullptr; each != nullptr; each = after) {
      after = each->next;
      const bool goes = is_unused(*each) && region_count.load(relaxed) > 1;
      if (!goes && each->stale_slabs == 0) continue;
      if (count++ == regions_at_a_time) {
        has_more_ = true;
        break;
      }
      unlink(first_region, *each);
      if (is_unused(*each)) --spare_count;
      if (goes) forget(*each);
      each->is_trimmed = true;
      region*& list = goes ? unused_ : partly_;
      each->next = list;
      list = each;
    }
  }
  bool has_more() const noexcept { return has_more_; }

  void trim() noexcept {
    while (region* const each = unused_) {
      unused_ = each->next;
      unmap(*each);
    }
    while (region* const each = partly_) {
      partly_ = each->next;
      trim_part(*each);
    }
  }

 private:
  static void trim_part(region& each) noexcept {
    std::uint64_t stale = 0;
    {
      const std::lock_guard lock(region_lock);
      stale = each.stale_slabs;
    }
    release_slabs(each, stale);  // nobody takes one of these: the region is in no list
    {
      const std::lock_guard lock(region_lock);
      each.stale_slabs &= ~stale;
      stale_count.fetch_sub(static_cast<std::size_t>(std::popcount(stale)), relaxed);
      each.is_trimmed = false;
      if (!is_unused(each) || region_count.load(relaxed) == 1) {
        if (is_unused(each)) ++spare_count;
        push_front(first_region, each);
        return;
      }
      forget(each);  // its last slab has come back meanwhile
    }
    unmap(each);
  }

  region* unused_ = nullptr;
  region* partly_ = nullptr;
  bool has_more_ = false;
};

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

/// Under the class's lock.
void give_unused(class_list& home, slab& unused) noexcept {
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
    if (--into.used != 0) continue;
    if (home.first == &into && into.next == nullptr && !nobody_runs.load(relaxed)) {
      home.kept = &into;
      continue;
    }
    give_unused(home, into);
  }
}

bool has_many_slabs() noexcept { return region_count.load(relaxed) > 1; }
bool has_stale_region() noexcept { return stale_count.load(relaxed) >= slabs_per_region; }

bool trim_slabs() noexcept {
  for (class_list& each : classes) {
    const std::lock_guard lock(each.lock);
    if (each.kept != nullptr && each.kept->used == 0) give_unused(each, *each.kept);
  }
  regions_to_trim some;
  some.trim();
  return some.has_more();
}

slab_counts count_slabs() noexcept {
  slab_counts now;
  now.mapped_bytes = region_count.load(relaxed) * region_bytes;
  now.system_calls = system_calls.load(relaxed);
  return now;
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
