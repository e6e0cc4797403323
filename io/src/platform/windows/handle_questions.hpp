// handle_questions.hpp: what Windows tells of a handle that somebody else may have opened.
// SPDX-License-Identifier: MIT
#pragma once

#include "platform/windows/native_calls.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

/// Of NtQueryInformationFile() and NtSetInformationFile(), which the headers of MSVC leave out.
enum class question : int { mode = 16, notification = 41, replace_completion = 61 };
using information_function = NTSTATUS(NTAPI*)(HANDLE, IO_STATUS_BLOCK*, void*, ULONG, question);

/// @param otherwise  where the system does not say
ULONG ask(HANDLE file, question what, ULONG otherwise) noexcept;

/// FILE_SYNCHRONOUS_IO_NONALERT and the like; that one where the system does not say.
ULONG mode_of(HANDLE file) noexcept;
/// Whether it was opened with FILE_FLAG_OVERLAPPED.
bool is_overlapped(HANDLE file) noexcept;
/// FILE_READ_DATA and the like; all of them where the system does not say.
ACCESS_MASK access_of(HANDLE handle) noexcept;
/// A socket has calls of its own, also for its end.
bool is_socket(native_descriptor descriptor) noexcept;

}  // namespace tandem::inline v0::io::platform
