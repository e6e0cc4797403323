// frame_regions.cpp: regions, their slabs, and the trim.
// SPDX-License-Identifier: MIT
#include "frames/frame_regions.hpp"

#include <bit>
#include <mutex>
#include <new>

#include <tandem/detail/futex_mutex.hpp>

#include "platform/memory.hpp"

namespace tandem::inline v0::detail {

constinit std::atomic<bool> nobody_runs{false};

namespace {

/// Where the first slab of the region begins: behind the region's own data.
constexpr std::size_t own_bytes = (sizeof(frame_region) + 63) / 64 * 64;

constexpr std::size_t most_spare = 8;      // regions that stay while tasks run, though unused
constexpr unsigned regions_at_a_time = 8;  // trimmed before the caller looks for work: some 0.5 ms

constinit futex_mutex region_lock;
// Guarded by region_lock; the counts are looked at without it.
constinit frame_region* first_region = nullptr;
constinit std::size_t spare_count = 0;  // regions in the list without a used slab
constinit std::atomic<std::size_t> region_count{0};
constinit std::atomic<std::size_t> leaving_count{0};  // forgotten, but still mapped
constinit std::atomic<std::size_t> stale_count{0};    // slabs
constinit std::atomic<std::uint64_t> system_calls{0};

/// Under region_lock.
frame_region* make_region() noexcept {
  void* const memory = platform::map_memory(region_bytes);
  system_calls.fetch_add(1, relaxed);
  if (memory == nullptr) return nullptr;
  if (region_count.load(relaxed) != 0) platform::prefer_huge_pages(memory, region_bytes);
  auto* const made = ::new (memory) frame_region;  // the slabs are set up when they are handed out
  made->free_slabs = ~std::uint64_t{0};
  made->stale_slabs = 0;
  made->is_trimmed = false;
  region_count.fetch_add(1, relaxed);
  ++spare_count;
  push_front(first_region, *made);
  return made;
}

void unmap(frame_region& gone) noexcept {
  system_calls.fetch_add(1, relaxed);
  platform::unmap_memory(&gone, region_bytes);
  leaving_count.fetch_sub(1, std::memory_order_release);  // pairs with count_slabs()
}

bool is_unused(const frame_region& each) noexcept { return ~each.free_slabs == 0; }

/// Under region_lock: the region is in no list any more, and goes.
void forget(frame_region& unused) noexcept {
  leaving_count.fetch_add(1, relaxed);  // first: it counts twice for a moment, never not at all
  region_count.fetch_sub(1, std::memory_order_release);  // pairs with count_slabs()
  stale_count.fetch_sub(static_cast<std::size_t>(std::popcount(unused.stale_slabs)), relaxed);
}

void release_slabs(frame_region& of, std::uint64_t bits) noexcept {
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
    for (frame_region *each = first_region, *after = nullptr; each != nullptr; each = after) {
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
      frame_region*& list = goes ? unused_ : partly_;
      each->next = list;
      list = each;
    }
  }
  bool has_more() const noexcept { return has_more_; }

  void trim() noexcept {
    while (frame_region* const each = unused_) {
      unused_ = each->next;
      unmap(*each);
    }
    while (frame_region* const each = partly_) {
      partly_ = each->next;
      trim_part(*each);
    }
  }

 private:
  static void trim_part(frame_region& each) noexcept {
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

  frame_region* unused_ = nullptr;
  frame_region* partly_ = nullptr;
  bool has_more_ = false;
};

}  // namespace

frame_slab* take_slab() noexcept {
  const std::lock_guard lock(region_lock);
  frame_region* const from = first_region != nullptr ? first_region : make_region();
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
  frame_slab& taken = from->slabs[number];
  taken.fresh = static_cast<std::uint32_t>(number == 0 ? own_bytes : number * slab_bytes);
  taken.end = static_cast<std::uint32_t>((number + 1) * slab_bytes);
  taken.free = nullptr;
  taken.used = 0;
  return &taken;
}

void give_slab(frame_slab& empty) noexcept {
  frame_region& home = region_of(&empty);
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

bool has_many_slabs() noexcept { return region_count.load(relaxed) > 1; }
bool has_stale_region() noexcept { return stale_count.load(relaxed) >= slabs_per_region; }

bool trim_regions() noexcept {
  regions_to_trim some;
  some.trim();
  return some.has_more();
}

slab_counts count_slabs() noexcept {
  slab_counts now;
  // acquire: whoever sees a region gone from the first count finds it in the second one, or gone.
  const std::size_t regions = region_count.load(std::memory_order_acquire);
  now.mapped_bytes = (regions + leaving_count.load(std::memory_order_acquire)) * region_bytes;
  now.system_calls = system_calls.load(relaxed);
  return now;
}

void lock_regions() noexcept { region_lock.lock(); }
void unlock_regions() noexcept { region_lock.unlock(); }

}  // namespace tandem::inline v0::detail
