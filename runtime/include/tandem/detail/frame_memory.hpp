// frame_memory.hpp: memory of coroutine frames and of spawned roots.
// SPDX-License-Identifier: MIT
//
// Size classes of 32 bytes up to 1 KiB. A thread keeps the free blocks of a class in a magazine, an
// array of 128 words aligned to its size, of which thread_context::frames holds the end. Entry 0 is
// null, so a magazine is empty where the last entry is null and full where its end is aligned. A
// thread that has none yet points behind an array of nulls: empty and full at once. Full and empty
// magazines trade batches with a central store; what exceeds its bounds goes back to slabs and from
// there to the system, and the rest once nobody runs (frame_idle.hpp): a burst does not stay. Under
// AddressSanitizer nothing is kept and every block is malloc's own, so that it sees leaks and every
// use of a frame that has ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tandem/config.hpp>
#include <tandem/detail/thread_context.hpp>

namespace tandem::inline v0::detail {

inline constexpr std::size_t frame_granule_bytes = 32;
inline constexpr std::size_t magazine_bytes = 128 * sizeof(void*);

constexpr std::size_t frame_class_of(std::size_t bytes) noexcept {
  return (bytes - 1) / frame_granule_bytes;
}

/// The magazine is empty, or the frame too large for one. Whatever has a coroutine calls it: hence
/// the tag.
/// @throws  std::bad_alloc
TANDEM_API TANDEM_ABI_TAG void* allocate_frame_slowly(std::size_t bytes);
/// The magazine is full, or the frame too large for one.
TANDEM_API void free_frame_slowly(void* block, std::size_t bytes) noexcept;
/// Gives the calling thread's cached blocks back to the system.
TANDEM_API void trim_frame_cache() noexcept;
/// That, and part of what the whole process keeps. @returns whether there is more
TANDEM_API bool trim_frame_store() noexcept;
/// That, until there is no more, if there is anything.
TANDEM_API void trim_frame_store_for_good() noexcept;
/// Whether this thread or the process keeps anything that is worth it. A look.
TANDEM_API bool has_frames_to_trim() noexcept;

/// Builds with assertions: told of each frame whose memory is about to be used again; null: nobody
/// cares. Set by tandem::io, which looks for buffers in it.
using frame_check = void (*)(const void* block, std::size_t bytes) noexcept;
TANDEM_API extern std::atomic<frame_check> check_freed_frame;

/// @throws  std::bad_alloc
TANDEM_ALWAYS_INLINE void* allocate_frame(std::size_t bytes) {
#if !TANDEM_KEEP_FRAMES
  return allocate_frame_slowly(bytes);
#else
  const std::size_t index = frame_class_of(bytes);
  if (index >= frame_class_count) [[unlikely]]
    return allocate_frame_slowly(bytes);
  void**& end = this_thread().frames[index];
  void* const block = end[-1];
  if (block == nullptr) [[unlikely]]
    return allocate_frame_slowly(bytes);
  --end;
  return block;
#endif
}

/// @param bytes  as given to allocate_frame
TANDEM_ALWAYS_INLINE void free_frame(void* block, std::size_t bytes) noexcept {
#if !defined(NDEBUG)
  // Relaxed: a function without state.
  if (const frame_check check = check_freed_frame.load(std::memory_order_relaxed)) {
    check(block, bytes);
  }
#endif
#if !TANDEM_KEEP_FRAMES
  free_frame_slowly(block, bytes);
#else
  const std::size_t index = frame_class_of(bytes);
  if (index >= frame_class_count) [[unlikely]] {
    free_frame_slowly(block, bytes);
    return;
  }
  void**& end = this_thread().frames[index];
  if (reinterpret_cast<std::uintptr_t>(end) % magazine_bytes == 0) [[unlikely]] {  // NOLINT
    free_frame_slowly(block, bytes);
    return;
  }
  *end++ = block;
#endif
}

/// Base of types that are made with new and live about as long as a task.
struct frame_allocated {
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { free_frame(block, bytes); }
};

}  // namespace tandem::inline v0::detail
