// handle_questions.cpp: modes, rights and kinds of handles.
// SPDX-License-Identifier: MIT
#include "platform/windows/handle_questions.hpp"

namespace tandem::inline v0::io::platform {

ULONG ask(HANDLE file, question what, ULONG otherwise) noexcept {
  static const auto query = native_call<information_function>("NtQueryInformationFile");
  IO_STATUS_BLOCK about{};
  ULONG answer = 0;
  const NTSTATUS status = query(file, &about, &answer, sizeof answer, what);
  return status >= 0 ? answer : otherwise;
}

ULONG mode_of(HANDLE file) noexcept {
  return ask(file, question::mode, FILE_SYNCHRONOUS_IO_NONALERT);
}

bool is_overlapped(HANDLE file) noexcept {
  constexpr ULONG in_turn = FILE_SYNCHRONOUS_IO_ALERT | FILE_SYNCHRONOUS_IO_NONALERT;
  return (mode_of(file) & in_turn) == 0;
}

ACCESS_MASK access_of(HANDLE handle) noexcept {
  PUBLIC_OBJECT_BASIC_INFORMATION about{};
  const NTSTATUS status =
      ::NtQueryObject(handle, ObjectBasicInformation, &about, sizeof about, nullptr);
  return status >= 0 ? about.GrantedAccess : ~ACCESS_MASK{0};
}

bool is_socket(native_descriptor descriptor) noexcept {
  if (start_sockets() != 0) return false;
  int type = 0;
  int size = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, reinterpret_cast<char*>(&type),  // NOLINT
                      &size) == 0;
}

}  // namespace tandem::inline v0::io::platform
