// memory.cpp: pages from the system and back, on Windows.
// SPDX-License-Identifier: MIT
#include "platform/memory.hpp"

#include <malloc.h>
#include <cstddef>
#include <cstdint>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::platform {

void* map_memory(std::size_t bytes) noexcept {
  const auto map = [](void* at, std::size_t size, DWORD kind) noexcept {
    return ::VirtualAlloc(at, size, kind, PAGE_READWRITE);
  };
  constexpr DWORD now = MEM_RESERVE | MEM_COMMIT;
  void* memory = map(nullptr, bytes, now);
  // A reservation is given back as a whole: find a place with room for an aligned one, leave it, and
  // ask for that. Another thread may be quicker.
  constexpr int most_tries = 64;
  for (int i = 0; memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % bytes != 0; ++i) {
    ::VirtualFree(memory, 0, MEM_RELEASE);
    memory = nullptr;
    if (i == most_tries) break;
    void* const room = map(nullptr, 2 * bytes, MEM_RESERVE);
    if (room == nullptr) break;
    const auto start = reinterpret_cast<std::uintptr_t>(room);
    ::VirtualFree(room, 0, MEM_RELEASE);
    memory =
        map(reinterpret_cast<void*>((start + bytes - 1) / bytes * bytes), bytes, now);  // NOLINT
    if (memory == nullptr) memory = map(nullptr, bytes, now);
  }
  return memory;
}

void unmap_memory(void* memory, std::size_t) noexcept { ::VirtualFree(memory, 0, MEM_RELEASE); }

void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept {
  return ::_aligned_malloc(bytes, alignment);
}
void free_aligned(void* memory) noexcept { ::_aligned_free(memory); }

void release_pages(void* from, void* to) noexcept {
  static const std::uintptr_t page = [] {
    SYSTEM_INFO system{};
    ::GetSystemInfo(&system);
    return std::uintptr_t{system.dwPageSize};
  }();
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(from) + page - 1) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(to) / page * page;
  if (first >= end) return;
  auto* const pages = reinterpret_cast<void*>(first);  // NOLINT
  if (::VirtualFree(pages, end - first, MEM_DECOMMIT) == 0) return;
  // Just given back: there is room for them, unless others of the machine take it all just now.
  while (::VirtualAlloc(pages, end - first, MEM_COMMIT, PAGE_READWRITE) == nullptr) ::Sleep(1);
}

void prefer_huge_pages(void*, std::size_t) noexcept {
  // Large pages need a privilege, and cannot be given back one by one.
}

}  // namespace tandem::inline v0::platform
