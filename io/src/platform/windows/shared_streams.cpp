// shared_streams.cpp: handles that others use too: consoles, pipes, devices and files.
// SPDX-License-Identifier: MIT
//
// All of them go to threads of blocking(): none can be asked whether it is ready.
#include "platform/shared_streams.hpp"

#include <cerrno>
#include <system_error>

#include "platform/windows/handle_questions.hpp"
#include "platform/windows/shared_transfer.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

result<shared_descriptor> open_shared(native_descriptor given, bool reads) noexcept {
  const HANDLE handle = handle_of(given);
  DWORD flags = 0;
  if (!detail::is_descriptor(given) || ::GetHandleInformation(handle, &flags) == 0) {
    return error_of(EBADF);
  }
  const ACCESS_MASK needed = reads ? FILE_READ_DATA : FILE_WRITE_DATA | FILE_APPEND_DATA;
  if ((access_of(handle) & needed) == 0) return error_of(EBADF);
  // A socket's calls are others, and what a file has that was opened with FILE_FLAG_OVERLAPPED is
  // no position that the system would keep.
  const bool is_on_disk = ::GetFileType(handle) == FILE_TYPE_DISK;
  const bool takes_turns = !is_overlapped(handle);
  if (is_socket(given) || (is_on_disk && !takes_turns)) {
    return std::make_error_code(std::errc::not_supported);
  }
  HANDLE made = nullptr;
  if (::DuplicateHandle(::GetCurrentProcess(), handle, ::GetCurrentProcess(), &made, 0, FALSE,
                        DUPLICATE_SAME_ACCESS) == 0) {
    return last_error();
  }
  const shared_kind kind = is_on_disk    ? shared_kind::on_disk
                           : takes_turns ? shared_kind::in_turn
                                         : shared_kind::overlapped;
  return shared_descriptor{descriptor_of(made), true, static_cast<std::uint64_t>(kind)};
}

result<native_descriptor> standard_descriptor(int which) noexcept {
  constexpr DWORD names[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
  const HANDLE own = ::GetStdHandle(names[which]);
  if (own == nullptr || own == INVALID_HANDLE_VALUE) return error_of(EBADF);
  return descriptor_of(own);
}

}  // namespace tandem::inline v0::io::platform
