// frame_memory.hpp: memory of coroutine frames and of spawned roots.
// SPDX-License-Identifier: MIT
//
// Size classes of 32 bytes up to 1 KiB, a bounded free list per thread and class, and a central store
// that moves whole batches from threads that free to threads that allocate. What exceeds the bounds
// goes back to malloc, so a burst does not stay. Every block is malloc's own: leak checkers see it.
#pragma once

#include <cstddef>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

/// @throws  std::bad_alloc
TANDEM_API void* allocate_frame(std::size_t bytes);
/// @param bytes  as given to allocate_frame
TANDEM_API void free_frame(void* block, std::size_t bytes) noexcept;
/// Gives the calling thread's cached blocks back to the system.
TANDEM_API void trim_frame_cache() noexcept;

/// Base of types that are made with new and live about as long as a task.
struct frame_allocated {
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { free_frame(block, bytes); }
};

}  // namespace tandem::inline v0::detail
