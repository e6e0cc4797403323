// system_unix.cpp: what puzzle asks of Linux.
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include "system.hpp"

namespace puzzles {

std::uint64_t memory_bytes() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

bool stderr_is_terminal() noexcept { return ::isatty(STDERR_FILENO) == 1; }

int system_thread_id() noexcept { return static_cast<int>(::gettid()); }

}  // namespace puzzles
