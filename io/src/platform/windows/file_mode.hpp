// file_mode.hpp: what Windows tells of a handle's mode, beside what its usual calls tell.
// SPDX-License-Identifier: MIT
#pragma once

#include "platform/windows/native_calls.hpp"

namespace tandem::inline v0::io::platform {

/// Of NtQueryInformationFile() and NtSetInformationFile(), which the headers of MSVC leave out.
enum class question : int { mode = 16, notification = 41, replace_completion = 61 };
using information_function = NTSTATUS(NTAPI*)(HANDLE, IO_STATUS_BLOCK*, void*, ULONG, question);

inline ULONG ask(HANDLE file, question what, ULONG otherwise) noexcept {
  static const auto query = native_call<information_function>("NtQueryInformationFile");
  IO_STATUS_BLOCK about{};
  ULONG answer = 0;
  const NTSTATUS status = query(file, &about, &answer, sizeof answer, what);
  return status >= 0 ? answer : otherwise;
}

inline ULONG mode_of(HANDLE file) noexcept {
  return ask(file, question::mode, FILE_SYNCHRONOUS_IO_NONALERT);
}
/// Opened without FILE_FLAG_OVERLAPPED: one call after the other, each of which waits.
inline bool is_in_turn(HANDLE file) noexcept {
  constexpr ULONG in_turn = FILE_SYNCHRONOUS_IO_ALERT | FILE_SYNCHRONOUS_IO_NONALERT;
  return (mode_of(file) & in_turn) != 0;
}

}  // namespace tandem::inline v0::io::platform
