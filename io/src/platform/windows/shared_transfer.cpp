// shared_transfer.cpp: reads and writes of consoles, pipes and devices that a stop ends.
// SPDX-License-Identifier: MIT
//
// shared/handle: a handle of others is bound to no port. That would be for all who have it, and for
// ever. So each call that waits has a thread, whatever the handle was opened for.
#include "platform/windows/shared_transfer.hpp"

#include <algorithm>
#include <cerrno>

#include "platform/windows/owned_handle.hpp"
#include "platform/windows/stopped_call.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

bool is_console(HANDLE handle) noexcept {
  DWORD mode = 0;
  return ::GetConsoleMode(handle, &mode) != 0;
}

std::int32_t failure(bool reads, DWORD code) noexcept {
  if (reads && (code == ERROR_HANDLE_EOF || code == ERROR_BROKEN_PIPE)) return 0;
  return -number_of(code);
}

/// Of a handle with FILE_FLAG_OVERLAPPED: it waits for an event of its own.
std::int32_t overlapped(bool reads, HANDLE handle, void* data, DWORD bytes,
                        const stopped_call& stop) noexcept {
  const owned_handle done(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!done.is_open()) return -last_number();
  OVERLAPPED call{};
  // The lowest bit keeps the packet from a port that somebody may have bound the handle to.
  call.hEvent =
      reinterpret_cast<HANDLE>(reinterpret_cast<std::uintptr_t>(done.get()) | 1U);  // NOLINT
  if (stop.is_stopped()) return -ECANCELED;
  DWORD count = 0;
  BOOL answer = reads ? ::ReadFile(handle, data, bytes, &count, &call)
                      : ::WriteFile(handle, data, bytes, &count, &call);
  if (answer == 0 && ::GetLastError() == ERROR_IO_PENDING) {
    stop.wait_for(done.get());
    if (stop.is_stopped()) (void)::CancelIoEx(handle, &call);
    answer = ::GetOverlappedResult(handle, &call, &count, TRUE);
  }
  // What was transferred before a cancel counts.
  return answer != 0 || count != 0 ? static_cast<std::int32_t>(count)
                                   : failure(reads, ::GetLastError());
}

/// Of all others.
std::int32_t in_turn(bool reads, HANDLE handle, void* data, DWORD bytes,
                     stopped_call& stop) noexcept {
  const bool is_typed = reads && is_console(handle);
  while (true) {
    // shared/console. As long as no key was struck a stop takes nothing away.
    if (is_typed) stop.wait_for(handle);
    DWORD count = 0;
    const BOOL answer = stop.make([&] {
      return reads ? ::ReadFile(handle, data, bytes, &count, nullptr)
                   : ::WriteFile(handle, data, bytes, &count, nullptr);
    });
    const DWORD code = ::GetLastError();
    const bool was_cut = count == 0 && code == ERROR_OPERATION_ABORTED;
    if (count != 0 || (answer != 0 && !was_cut)) return static_cast<std::int32_t>(count);
    if (!was_cut) return failure(reads, code);
    // Else Ctrl-C has ended the line, which a console answers with TRUE.
    if (stop.is_stopped()) return -ECANCELED;
  }
}

}  // namespace

std::int32_t transfer_on(bool reads, native_descriptor shared, void* data, std::size_t bytes,
                         shared_kind kind) noexcept {
  constexpr std::size_t most = std::size_t{1} << 30U;
  const HANDLE handle = handle_of(shared);
  const auto asked = static_cast<DWORD>(std::min(bytes, most));
  if (kind == shared_kind::on_disk) {  // what has begun is waited for
    DWORD count = 0;
    const BOOL answer = reads ? ::ReadFile(handle, data, asked, &count, nullptr)
                              : ::WriteFile(handle, data, asked, &count, nullptr);
    return answer != 0 ? static_cast<std::int32_t>(count) : failure(reads, ::GetLastError());
  }
  stopped_call stop;
  if (!stop.is_set_up()) return -number_of(ERROR_TOO_MANY_OPEN_FILES);
  return kind == shared_kind::overlapped ? overlapped(reads, handle, data, asked, stop)
                                         : in_turn(reads, handle, data, asked, stop);
}

}  // namespace tandem::inline v0::io::platform
