// memory.cpp: pages by mmap(), and aligned pieces of the heap.
// SPDX-License-Identifier: MIT
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "platform/memory.hpp"

// Where the program has a leak checker: it knows what malloc has given, and these pages hold
// pointers to that, too. Null where there is none.
#if defined(__ELF__)
extern "C" [[gnu::weak]] void __lsan_register_root_region(const void* begin, std::size_t bytes);
extern "C" [[gnu::weak]] void __lsan_unregister_root_region(const void* begin, std::size_t bytes);
#else
static constexpr void (*__lsan_register_root_region)(const void*, std::size_t) = nullptr;
static constexpr void (*__lsan_unregister_root_region)(const void*, std::size_t) = nullptr;
#endif

namespace tandem::inline v0::platform {

void* map_memory(std::size_t bytes) noexcept {
  const auto map = [](std::size_t size) noexcept {
    return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  };
  const auto start_of = [](const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); };
  void* memory = map(bytes);
  if (memory == MAP_FAILED) return nullptr;
  if (start_of(memory) % bytes != 0) {
    // Twice as much, of which too much goes back. The next one mostly lies right below this one.
    munmap(memory, bytes);
    memory = map(2 * bytes);
    if (memory == MAP_FAILED) return nullptr;
    const std::size_t before = (bytes - start_of(memory) % bytes) % bytes;
    auto* const first = static_cast<std::byte*>(memory);
    if (before != 0) munmap(first, before);
    munmap(first + before + bytes, bytes - before);
    memory = first + before;
  }
  if (__lsan_register_root_region != nullptr) __lsan_register_root_region(memory, bytes);
  return memory;
}

void unmap_memory(void* memory, std::size_t bytes) noexcept {
  if (__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(memory, bytes);
  munmap(memory, bytes);
}

void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept {
  return std::aligned_alloc(alignment, bytes);
}
void free_aligned(void* memory) noexcept { std::free(memory); }

}  // namespace tandem::inline v0::platform
