// files.cpp: flags, handles and status of files.
// SPDX-License-Identifier: MIT
#include "platform/files.hpp"

#include <chrono>
#include <cstdint>
#include <new>

#include "platform/windows/file_answer.hpp"
#include "platform/windows/file_calls.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

int open_flags(const open_options& options) noexcept {
  int flags = 0;
  if (options.mode != open_mode::write) flags |= opens_to_read;
  if (options.mode != open_mode::read) flags |= opens_to_write;
  if (options.create) flags |= creates;
  if (options.create && options.exclusive) flags |= is_exclusive;
  if (options.truncate) flags |= truncates;
  if (options.append) flags |= appends;
  if (options.direct) flags |= is_direct_flag;
  return flags;
}

void settle_opened(native_descriptor /*file*/, const open_options& /*options*/) noexcept {}

std::error_code adopt_file(native_descriptor file, bool& is_direct) noexcept {
  const HANDLE handle = handle_of(file);
  DWORD flags = 0;
  if (::GetHandleInformation(handle, &flags) == 0) return last_error();
  if (::SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) == 0) return last_error();
  is_direct = false;
  return {};
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
  // Steps of 100 ns since 1601.
  using steps = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
  constexpr std::int64_t seconds_to_1970 = 11'644'473'600;
  const auto since_1601 = static_cast<std::int64_t>(
      wide(found.about.ftLastWriteTime.dwHighDateTime, found.about.ftLastWriteTime.dwLowDateTime));
  using clock = std::chrono::system_clock;
  made.modified = clock::time_point(std::chrono::duration_cast<clock::duration>(
      steps(since_1601) - std::chrono::seconds(seconds_to_1970)));
  return made;
}

}  // namespace tandem::inline v0::io::platform
