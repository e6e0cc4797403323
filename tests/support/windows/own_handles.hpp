// own_handles.hpp: the handles that this process has.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

#include <cstdint>

namespace tandem::test {

/// Calls visit(HANDLE) for each handle of this process, by trying the numbers: the system gives low ones, in steps of four, and
/// gives them again. Over when all have been met that GetProcessHandleCount() tells of; wine 8 has no such count, and there
/// a gap ends it (a try costs 22 us). The list of all handles of all processes (NtQuerySystemInformation) is not asked
/// for: wine 8's server crashes when a process has none at that moment, and takes every program with it.
template <class Visit>
void for_each_own_handle(Visit visit) {
  DWORD count = 0;
  ::GetProcessHandleCount(::GetCurrentProcess(), &count);
  const std::uintptr_t longest_gap = count == 0 ? 128 : 64 * 1024;
  std::uintptr_t gap = 0;
  DWORD met = 0;
  for (std::uintptr_t number = 4; gap < longest_gap; number += 4) {
    const auto handle = reinterpret_cast<HANDLE>(number);  // NOLINT
    DWORD flags = 0;
    if (::GetHandleInformation(handle, &flags) == 0) {
      ++gap;
      continue;
    }
    gap = 0;
    visit(handle);
    if (++met == count) break;
  }
  EXPECT_NE(met, 0U) << "no handle was found: nothing was counted";
}

}  // namespace tandem::test
