// system_windows.cpp: what puzzle asks of Windows.
// SPDX-License-Identifier: MIT
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <io.h>
#include <windows.h>

#include <cstdio>

#include "system.hpp"

namespace puzzles {

std::uint64_t memory_bytes() noexcept {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  return ::GlobalMemoryStatusEx(&status) != 0 ? status.ullTotalPhys : 0;
}

bool stderr_is_terminal() noexcept { return ::_isatty(::_fileno(stderr)) != 0; }

int system_thread_id() noexcept { return static_cast<int>(::GetCurrentThreadId()); }

}  // namespace puzzles
