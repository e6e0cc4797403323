// memory.cpp: single pages back to the system, and huge ones, on Linux.
// SPDX-License-Identifier: MIT
#include "platform/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace tandem::inline v0::platform {

void release_pages(void* from, void* to) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(from) + page - 1) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(to) / page * page;
  if (first >= end) return;
  madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);  // NOLINT
}

void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
  madvise(memory, bytes, MADV_HUGEPAGE);  // refused where there are none: nothing is lost
}

}  // namespace tandem::inline v0::platform
