// afd_device.cpp: opening the driver of sockets, its polls and their end.
// SPDX-License-Identifier: MIT
#include "iocp/afd_device.hpp"

#include <cerrno>
#include <cstddef>

namespace tandem::inline v0::io {

namespace {

constexpr ULONG poll_code = 0x00012024;  // IOCTL_AFD_POLL

enum event : ULONG {
  may_receive = 0x1,
  may_send = 0x4,
  disconnected = 0x8,
  aborted = 0x10,
  closed_here = 0x20,
  may_accept = 0x80,
  connect_failed = 0x100,
};

constexpr NTSTATUS pending = 0x00000103;

using cancel_function = NTSTATUS(NTAPI*)(HANDLE, IO_STATUS_BLOCK*, IO_STATUS_BLOCK*);

int number_of_status(NTSTATUS status) noexcept {
  return platform::number_of(::RtlNtStatusToDosError(status));
}

constexpr ULONG events_of(direction way) noexcept {
  constexpr ULONG either = aborted | closed_here;
  return way == direction::read ? may_receive | may_accept | disconnected | either
                                : may_send | connect_failed | either;
}

/// A socket below another one may be had by this question where the first is refused.
constexpr DWORD base_handle = 0x48000022;       // SIO_BASE_HANDLE
constexpr DWORD poll_base_handle = 0x4800001D;  // SIO_BSP_HANDLE_POLL

bool ask_base(native_descriptor socket, DWORD question, SOCKET& base) noexcept {
  DWORD bytes = 0;
  return ::WSAIoctl(socket, question, nullptr, 0, &base, sizeof base, &bytes, nullptr, nullptr) ==
         0;
}

}  // namespace

afd_device::~afd_device() {
  for (const auto& each : groups_) ::CloseHandle(each->handle);
}

int afd_device::open(HANDLE& made) const noexcept {
  wchar_t name[] = L"\\Device\\Afd\\tandem";
  UNICODE_STRING text{};
  text.Buffer = name;
  text.Length = sizeof name - sizeof(wchar_t);
  text.MaximumLength = sizeof name;
  OBJECT_ATTRIBUTES what{};
  what.Length = sizeof what;
  what.ObjectName = &text;
  IO_STATUS_BLOCK answer{};
  const NTSTATUS status =
      ::NtCreateFile(&made, SYNCHRONIZE, &what, &answer, nullptr, 0,
                     FILE_SHARE_READ | FILE_SHARE_WRITE, FILE_OPEN, 0, nullptr, 0);
  if (status < 0) {
    // Not every system lets it be opened by that call.
    made = ::CreateFileW(L"\\\\.\\GLOBALROOT\\Device\\Afd\\tandem", SYNCHRONIZE,
                         FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING,
                         FILE_FLAG_OVERLAPPED, nullptr);
    if (made == INVALID_HANDLE_VALUE) return number_of_status(status);
  }
  if (::CreateIoCompletionPort(made, port_, key_, 0) == nullptr) {
    const int error = platform::last_number();
    ::CloseHandle(made);
    return error;
  }
  // Packets are all that anybody waits for.
  (void)::SetFileCompletionNotificationModes(made, FILE_SKIP_SET_EVENT_ON_HANDLE);
  return 0;
}

afd_device::group* afd_device::take(int& error) {
  for (const auto& each : groups_) {
    if (each->sockets == sockets_each) continue;
    ++each->sockets;
    return each.get();
  }
  auto made = std::make_unique<group>();
  groups_.reserve(groups_.size() + 1);
  error = open(made->handle);
  if (error != 0) return nullptr;
  made->sockets = 1;
  groups_.push_back(std::move(made));
  return groups_.back().get();
}

int afd_device::probe() {
  int error = 0;
  if (group* const first = take(error)) give_back(*first);
  return error;
}

int afd_device::begin(const group& at, afd_poll& poll, HANDLE base, direction way) noexcept {
  memory_given_up(&poll);
  poll.way = way;
  poll.info.timeout.QuadPart = INT64_MAX;
  poll.info.count = 1;
  poll.info.exclusive = FALSE;
  poll.info.handles[0] = afd_poll_handle{base, events_of(way), 0};
  poll.status.Status = pending;
  const NTSTATUS status =
      ::NtDeviceIoControlFile(at.handle, nullptr, nullptr, &poll, &poll.status, poll_code,
                              &poll.info, sizeof poll.info, &poll.info, sizeof poll.info);
  // Done at once or not, a packet comes; unless it was refused.
  if (status < 0) return number_of_status(status);
  memory_lent(&poll);
  poll.is_pending = true;
  return 0;
}

void afd_device::cancel(const group& at, afd_poll& poll) noexcept {
  static const auto cancel = platform::native_call<cancel_function>("NtCancelIoFileEx");
  IO_STATUS_BLOCK answer{};
  // "Not found": its packet is on the way.
  (void)cancel(at.handle, &poll.status, &answer);
}

int afd_device::base_of(native_descriptor socket, HANDLE& base) noexcept {
  SOCKET found = INVALID_SOCKET;
  if (!ask_base(socket, base_handle, found) && !ask_base(socket, poll_base_handle, found)) {
    return platform::last_number_of(socket);
  }
  base = platform::handle_of(found);
  return 0;
}

}  // namespace tandem::inline v0::io
