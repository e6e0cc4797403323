// frame_memory.cpp: magazines that are full or empty, and when they are emptied for good.
// SPDX-License-Identifier: MIT
//
// A full magazine gives half of itself to the central store (frame_store.hpp), an empty one takes a
// batch from there. A thread that ends gives back what it has. What threads and store keep goes
// back when nobody needs it: protocol trim in runtime/src/frames/README.md.
#include <tandem/detail/frame_memory.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <tandem/detail/thread_exit.hpp>

#include "frames/frame_regions.hpp"
#include "frames/frame_slabs.hpp"
#include "frames/frame_store.hpp"
#include "frames/no_magazine.hpp"
#include "platform/memory.hpp"

namespace tandem::inline v0::detail {

alignas(magazine_bytes) constinit std::array<void*, magazine_entries> no_magazine{};

constinit std::atomic<frame_check> check_freed_frame{nullptr};

namespace {

static_assert(sizeof(frame_block) <= frame_granule_bytes);

using keeping = thread_context::keeping;

void empty_magazines(thread_context& context) noexcept {
  for (std::size_t index = 0; index < frame_class_count; ++index) {
    void**& end = context.frames[index];
    if (end == no_magazine_end()) continue;
    frame_block* chain = nullptr;
    while (end[-1] != nullptr) {
      auto* const each = static_cast<frame_block*>(*--end);
      each->next = chain;
      chain = each;
    }
    give_to_slabs(index, chain);
    platform::free_aligned(end - 1);
    end = no_magazine_end();
  }
}

void close_magazines() noexcept {
  thread_context& context = this_thread();
  context.frames_kept = keeping::closed;
  empty_magazines(context);
}

/// @returns  whether what the thread keeps is given back when it ends
TANDEM_NOINLINE bool begin_keeping(thread_context& context) noexcept {
  if (!at_thread_exit(exit_step::frames, &close_magazines)) return false;
  context.frames_kept = keeping::in_use;
  return true;
}

/// trim/nobody_runs. Whether nobody runs tasks. A thread of a runtime that asks does: then somebody
/// will trim again.
bool all_idle() noexcept {
  if (!nobody_runs.load(relaxed)) [[likely]]
    return false;
  if (this_thread().current_executor == nullptr) return true;
  nobody_runs.store(false, relaxed);
  return false;
}

/// @returns  whether this thread has a magazine of the class now
bool have_magazine(void**& end) noexcept {
  thread_context& context = this_thread();
  if (!TANDEM_KEEP_FRAMES || context.frames_kept == keeping::closed) return false;
  if (end != no_magazine_end()) return true;
  if (context.frames_kept == keeping::unused && !begin_keeping(context)) return false;
  auto** const fresh =
      static_cast<void**>(platform::allocate_aligned(magazine_bytes, magazine_bytes));
  if (fresh == nullptr) return false;
  fresh[0] = nullptr;
  end = fresh + 1;
  return true;
}

/// Of a thread outside while nobody runs: it keeps nothing, and nobody would trim the store after
/// it.
void free_for_good(std::size_t index, void* memory) noexcept {
  if (this_thread().frames[index] != no_magazine_end()) empty_magazines(this_thread());
  give_to_slabs(index, &memory, 1);
  trim_stale_slabs();
}

}  // namespace

TANDEM_NOINLINE void* allocate_frame_slowly(std::size_t bytes) {
  const std::size_t index = frame_class_of(bytes);
  void* fresh = nullptr;
  if (!TANDEM_KEEP_FRAMES || index >= frame_class_count) {
    fresh = std::malloc(bytes);
  } else if (void**& end = this_thread().frames[index]; !have_magazine(end)) {
    fresh = take_from_slabs(index, 1);
  } else {
    (void)all_idle();
    // Not empty: the caller was compiled to keep none (config.hpp), others of this process were
    // not.
    if (end[-1] != nullptr || take_batch(index, end)) return *--end;
  }
  if (fresh == nullptr) throw std::bad_alloc();
  return fresh;
}

TANDEM_NOINLINE void free_frame_slowly(void* memory, std::size_t bytes) noexcept {
  const std::size_t index = frame_class_of(bytes);
  if (!TANDEM_KEEP_FRAMES || index >= frame_class_count) {
    std::free(memory);
    return;
  }
  if (all_idle()) [[unlikely]] {
    free_for_good(index, memory);
    return;
  }
  note_news();
  if (!have_magazine(this_thread().frames[index])) {
    give_to_slabs(index, &memory, 1);
    return;
  }
  void**& end = this_thread().frames[index];
  if (reinterpret_cast<std::uintptr_t>(end) % magazine_bytes == 0) {  // NOLINT: full
    give_batch(index, end);
  }
  *end++ = memory;
}

void trim_frame_cache() noexcept { empty_magazines(this_thread()); }

bool trim_frame_store() noexcept {
  empty_magazines(this_thread());
  return trim_store();
}

void trim_frame_store_for_good() noexcept {
  if (!has_frames_to_trim()) return;
  while (trim_frame_store()) {}
}

bool has_frames_to_trim() noexcept {
  if (!has_many_slabs()) return false;
  if (has_news()) return true;
  const auto& ends = this_thread().frames;
  return std::any_of(ends.begin(), ends.end(), [](void** end) { return end != no_magazine_end(); });
}

}  // namespace tandem::inline v0::detail
