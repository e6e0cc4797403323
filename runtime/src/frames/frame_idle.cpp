// frame_idle.cpp: how long a thread lies before it gives back, and what has been given back so far.
// SPDX-License-Identifier: MIT
#include <tandem/detail/frame_idle.hpp>

#include "frames/frame_regions.hpp"
#include "frames/frame_store.hpp"

namespace tandem::inline v0::detail {

namespace {
constinit std::atomic<std::uint64_t> idle_wakes{0};
}  // namespace

constinit std::atomic<std::int64_t> frame_idle_ns{500'000'000};

void note_idle_wake() noexcept { idle_wakes.fetch_add(1, relaxed); }

frame_store_counts count_frame_store() noexcept {
  const slab_counts slabs = count_slabs();
  frame_store_counts now;
  now.mapped_bytes = slabs.mapped_bytes;
  now.system_calls = slabs.system_calls;
  now.trims = count_store_trims();
  now.idle_wakes = idle_wakes.load(relaxed);
  return now;
}

}  // namespace tandem::inline v0::detail
