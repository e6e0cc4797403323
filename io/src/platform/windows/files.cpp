// files.cpp: flags, handles and status of files.
// SPDX-License-Identifier: MIT
#include "platform/files.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <new>

#include "platform/windows/file_answer.hpp"
#include "platform/windows/file_calls.hpp"
#include "platform/windows/handle_questions.hpp"
#include "platform/windows/native_calls.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// What a file is that has joined no port, in file_handle::joined_port().
enum file_state : std::uint64_t {
  unknown = 0,     // nobody has asked
  joining = 1,     // somebody does
  no_packets = 2,  // opened without FILE_FLAG_OVERLAPPED, or what it tells is not to be relied on
  of_others = 3,   // bound to a port, and not by us
};

/// iocp/join.
std::uint64_t join(HANDLE file, const file_port& port) noexcept {
  // Consoles and other devices say what they like of a packet.
  const DWORD type = ::GetFileType(file);
  if (type != FILE_TYPE_DISK && type != FILE_TYPE_PIPE) return no_packets;
  if (!is_overlapped(file)) return no_packets;
  // Its former owner wanted none where a call succeeds at once.
  if ((ask(file, question::notification, 0) & FILE_SKIP_COMPLETION_PORT_ON_SUCCESS) != 0) {
    return no_packets;
  }
  const bool is_bound =
      ::CreateIoCompletionPort(file, handle_of(port.handle), port.key, 0) != nullptr;
  if (is_bound) return port.id;
  return ::GetLastError() == ERROR_INVALID_PARAMETER ? of_others : no_packets;
}

/// Of steps of 100 ns since 1601.
std::chrono::system_clock::time_point moment_of(const FILETIME& at) noexcept {
  using steps = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
  constexpr std::int64_t seconds_to_1970 = 11'644'473'600;
  const auto since_1601 = static_cast<std::int64_t>((std::uint64_t{at.dwHighDateTime} << 32U) |
                                                    std::uint64_t{at.dwLowDateTime});
  using clock = std::chrono::system_clock;
  return clock::time_point(std::chrono::duration_cast<clock::duration>(
      steps(since_1601) - std::chrono::seconds(seconds_to_1970)));
}

}  // namespace

int open_flags(const open_options& options) noexcept {
  int flags = 0;
  if (options.mode != open_mode::write) flags |= opens_to_read;
  if (options.mode != open_mode::read) flags |= opens_to_write;
  if (options.create) flags |= creates;
  if (options.create && options.exclusive) flags |= is_exclusive;
  if (options.truncate) flags |= truncates;
  if (options.append) flags |= appends;
  if (options.direct) flags |= is_direct_flag;
  if (options.unnamed) flags |= is_unnamed;
  return flags;
}

void settle_opened(native_descriptor /*file*/, const open_options& /*options*/) noexcept {}

std::error_code adopt_file(native_descriptor file, bool& is_direct) noexcept {
  const HANDLE handle = handle_of(file);
  DWORD flags = 0;
  if (::GetHandleInformation(handle, &flags) == 0) return last_error();
  if (::SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) == 0) return last_error();
  is_direct = (mode_of(handle) & FILE_NO_INTERMEDIATE_BUFFERING) != 0;
  return {};
}

file_way way_of(detail::file_request& request, std::atomic<std::uint64_t>& joined,
                const file_port& port) noexcept {
  if (detail::are_at_positions.has(request.action())) {
    // Of others' handles it is a shared_kind, which open_shared() has told: none joins a port.
    request.say(static_cast<int>(joined.load(std::memory_order_relaxed)), 0);
    return file_way::blocking;
  }
  // A copy from or to the cache is made by whoever asks: one that is long would keep the thread from
  // its sockets.
  const auto joined_way = [&] {
    return !request.is_direct() && request.is_long() ? file_way::blocking : file_way::port;
  };
  // Acquire: pairs with whoever had it join.
  std::uint64_t state = joined.load(std::memory_order_acquire);
  if (state == port.id) return joined_way();
  if (state == unknown &&
      joined.compare_exchange_strong(state, joining, std::memory_order_acquire)) {
    state = join(handle_of(request.descriptor()), port);
    joined.store(state, std::memory_order_release);
  }
  if (state == port.id) return joined_way();
  // Or another pool's, or just about to join.
  return state == of_others ? file_way::refused : file_way::blocking;
}

void leave_port(native_descriptor file) noexcept {
  struct {  // FILE_COMPLETION_INFORMATION
    HANDLE port;
    void* key;
  } none{};
  static const auto set = native_call<information_function>("NtSetInformationFile");
  IO_STATUS_BLOCK answer{};
  // Since Windows 8.1; before that it keeps its port.
  (void)set(handle_of(file), &answer, &none, sizeof none, question::replace_completion);
}

std::string_view cure_of(const std::error_code& failure) noexcept {
  if (failure != std::error_code(EBUSY, std::generic_category())) return {};
  return "its handle belongs to another completion port, which it cannot leave: open the file "
         "anew, "
         "by file::open() or ReOpenFile(), or give it to tandem before anything else binds it";
}

int advice_flag(file_access /*how*/) noexcept { return 0; }  // nobody to tell

void unlock(native_descriptor file, std::uint64_t offset, std::uint64_t bytes) noexcept {
  (void)set_lock(file, offset, bytes, unlocks);
}

bool has_no_disk(native_descriptor /*file*/) noexcept { return false; }

std::size_t direct_io_alignment_of(native_descriptor file) noexcept {
  constexpr std::size_t usual = 4096;
  FILE_STORAGE_INFO about{};
  if (::GetFileInformationByHandleEx(handle_of(file), FileStorageInfo, &about, sizeof about) == 0 ||
      about.PhysicalBytesPerSectorForPerformance == 0) {
    return usual;
  }
  return about.PhysicalBytesPerSectorForPerformance;
}

std::size_t size_hint(native_descriptor file) noexcept {
  LARGE_INTEGER size{};
  if (::GetFileSizeEx(handle_of(file), &size) == 0) return 0;
  return static_cast<std::size_t>(size.QuadPart);
}

file_status status_from(const void* answer) noexcept {
  static_assert(sizeof(file_answer) <= status_bytes && alignof(file_answer) <= 8);
  const auto& found = *static_cast<const file_answer*>(answer);
  file_status made;
  switch (found.type) {
    case FILE_TYPE_DISK: made.kind = file_kind::regular; break;
    case FILE_TYPE_CHAR: made.kind = file_kind::character; break;
    case FILE_TYPE_PIPE: made.kind = file_kind::fifo; break;
    default: made.kind = file_kind::other;
  }
  if (found.type != FILE_TYPE_DISK) return made;
  const auto wide = [](DWORD high, DWORD low) { return (std::uint64_t{high} << 32U) | low; };
  const DWORD attributes = found.about.dwFileAttributes;
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) made.kind = file_kind::directory;
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) made.kind = file_kind::symlink;
  made.size = wide(found.about.nFileSizeHigh, found.about.nFileSizeLow);
  made.allocated_bytes = found.allocated_bytes;
  // Windows has one bit: whether it may be written at all.
  made.permissions = (attributes & FILE_ATTRIBUTE_READONLY) != 0 ? 0444 : 0666;
  made.device = found.about.dwVolumeSerialNumber;
  made.inode = wide(found.about.nFileIndexHigh, found.about.nFileIndexLow);
  made.links = found.about.nNumberOfLinks;
  made.modified = moment_of(found.about.ftLastWriteTime);
  made.changed = made.modified;  // this call does not tell
  made.accessed = moment_of(found.about.ftLastAccessTime);
  made.created = moment_of(found.about.ftCreationTime);
  return made;
}

}  // namespace tandem::inline v0::io::platform
