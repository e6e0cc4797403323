// pipes.cpp: pipes whose ends can be overlapped: they have a name, which nobody else is to know.
// SPDX-License-Identifier: MIT
//
// CreatePipe() makes ends that block whoever asks. So a pipe is one of a name, made by one end and
// opened at once by the other; nobody else can open it, since it has one place.
#include "platform/pipes.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cwchar>
#include <tandem/detail/random.hpp>

#include "platform/windows/handle_questions.hpp"
#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

constexpr DWORD room_bytes = 65536;

using pipe_name = std::array<wchar_t, 96>;

/// Another one each time, which nobody guesses.
pipe_name next_name() noexcept {
  static std::atomic<std::uint32_t> last{0};
  pipe_name made{};
  (void)std::swprintf(made.data(), made.size(), LR"(\\.\pipe\tandem-%lu-%u-%016llx)",
                      ::GetCurrentProcessId(),
                      last.fetch_add(1, std::memory_order_relaxed),  // only that it is new
                      static_cast<unsigned long long>(tandem::detail::random_bits()));
  return made;
}

constexpr DWORD way_of_waiting(bool waits) noexcept {
  return waits ? DWORD{0} : DWORD{FILE_FLAG_OVERLAPPED};
}

refusal refuse(std::error_code error, const char* why) noexcept {
  refusal made;
  made.error = error;
  made.why = why;
  return made;
}
refusal refuse(int error, const char* why) noexcept {
  return refuse(std::error_code(error, std::generic_category()), why);
}

}  // namespace

result<std::array<native_descriptor, 2>> make_pipe(pipe_modes modes) noexcept {
  const pipe_name name = next_name();
  owned_handle reader(::CreateNamedPipeW(
      name.data(),
      PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE | way_of_waiting(modes.reads_wait),
      PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, room_bytes,
      room_bytes, 0, nullptr));
  if (!reader.is_open()) return last_error();
  owned_handle writer(::CreateFileW(name.data(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
                                    way_of_waiting(modes.writes_wait), nullptr));
  if (!writer.is_open()) return last_error();
  return std::array<native_descriptor, 2>{descriptor_of(reader.release()),
                                          descriptor_of(writer.release())};
}

refusal adopt_pipe(native_descriptor descriptor, bool reads) noexcept {
  const HANDLE handle = handle_of(descriptor);
  DWORD flags = 0;
  if (!detail::is_descriptor(descriptor) || ::GetHandleInformation(handle, &flags) == 0) {
    return refuse(EBADF, "is not open");
  }
  DWORD kind = 0;
  // A socket is a pipe to GetFileType(), and has no such state.
  if (::GetFileType(handle) != FILE_TYPE_PIPE ||
      (::GetNamedPipeInfo(handle, &kind, nullptr, nullptr, nullptr) == 0 &&
       ::GetLastError() != ERROR_ACCESS_DENIED)) {
    return refuse(EINVAL, "is no pipe");
  }
  if (!is_overlapped(handle)) {
    return refuse(EINVAL, "was opened without FILE_FLAG_OVERLAPPED, so every call on it waits");
  }
  if (reads && (kind & PIPE_TYPE_MESSAGE) != 0) {
    return refuse(EINVAL, "is a pipe of messages (PIPE_TYPE_MESSAGE)");
  }
  const ACCESS_MASK needs = reads ? FILE_READ_DATA : FILE_WRITE_DATA;
  if ((access_of(handle) & needs) == 0) {
    return refuse(EBADF, reads ? "is the writing end of a pipe" : "is the reading end of a pipe");
  }
  if (::SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) == 0) {
    return refuse(last_error(), "does not take its flags");
  }
  return {};
}

std::error_code join_port(native_descriptor end, const file_port& port) noexcept {
  const HANDLE joined =
      ::CreateIoCompletionPort(handle_of(end), handle_of(port.handle), port.key, 0);
  if (joined != nullptr) return {};
  if (::GetLastError() != ERROR_INVALID_PARAMETER) return last_error();
  return {EBUSY, std::generic_category()};
}

}  // namespace tandem::inline v0::io::platform
