// memory.cpp: single pages back to the system, by mapping fresh ones in their place.
// SPDX-License-Identifier: MIT
#include "platform/memory.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace tandem::inline v0::platform {

void release_pages(void* from, void* to) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(from) + page - 1) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(to) / page * page;
  if (first >= end) return;
  auto* const pages = reinterpret_cast<void*>(first);  // NOLINT
  constexpr int over_the_old = MAP_PRIVATE | MAP_ANON | MAP_FIXED;
  // Not madvise(): what it leaves there, zeros or the old bytes, differs from system to system.
  // Refused only for want of the system's own memory; then the old ones may be gone already.
  while (::mmap(pages, end - first, PROT_READ | PROT_WRITE, over_the_old, -1, 0) == MAP_FAILED) {
    (void)::poll(nullptr, 0, 1);
  }
}

void prefer_huge_pages(void*, std::size_t) noexcept {
  // No call for it is common to these systems; some take huge pages by themselves.
}

}  // namespace tandem::inline v0::platform
