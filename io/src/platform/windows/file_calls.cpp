// file_calls.cpp: transfers, opening, sizes and status of files.
// SPDX-License-Identifier: MIT
#include "platform/windows/file_calls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cwchar>
#include <new>
#include <string>
#include <tandem/detail/random.hpp>

#include "platform/files.hpp"
#include "platform/windows/file_answer.hpp"
#include "platform/windows/system.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// One for each thread: a handle with FILE_FLAG_OVERLAPPED would else be waited for itself, which
/// any other transfer of it ends.
class own_event {
 public:
  own_event() noexcept : handle_(::CreateEventW(nullptr, TRUE, FALSE, nullptr)) {}
  own_event(const own_event&) = delete;
  own_event& operator=(const own_event&) = delete;
  ~own_event() {
    if (handle_ != nullptr) ::CloseHandle(handle_);
  }
  HANDLE get() const noexcept { return handle_; }

 private:
  HANDLE handle_;
};

std::int32_t failure() noexcept { return -last_number(); }

}  // namespace

std::int32_t transfer(bool reads, native_descriptor file, void* data, std::size_t bytes,
                      std::uint64_t offset) noexcept {
  constexpr std::size_t most = 0x7ffff000;
  const own_event done;
  if (done.get() == nullptr) return failure();
  OVERLAPPED call{};
  call.Offset = static_cast<DWORD>(offset);
  call.OffsetHigh = static_cast<DWORD>(offset >> 32U);
  // The lowest bit keeps the packet from a port that its owner may have bound the handle to.
  call.hEvent =
      reinterpret_cast<HANDLE>(reinterpret_cast<std::uintptr_t>(done.get()) | 1U);  // NOLINT
  const auto asked = static_cast<DWORD>(std::min(bytes, most));
  DWORD count = 0;
  const HANDLE handle = handle_of(file);
  BOOL answer = reads ? ::ReadFile(handle, data, asked, &count, &call)
                      : ::WriteFile(handle, data, asked, &count, &call);
  if (answer == 0 && ::GetLastError() == ERROR_IO_PENDING) {
    answer = ::GetOverlappedResult(handle, &call, &count, TRUE);
  }
  if (answer != 0) return static_cast<std::int32_t>(count);
  const DWORD code = ::GetLastError();
  if (reads && (code == ERROR_HANDLE_EOF || code == ERROR_BROKEN_PIPE)) return 0;
  return -number_of(code);
}

std::int32_t open_file(const char* path, int flags, unsigned permissions) noexcept {
  try {
    std::wstring wide;
    if (!to_wide_path(path, wide)) return -number_of(ERROR_INVALID_NAME);
    DWORD access = 0;
    if ((flags & opens_to_read) != 0) access |= GENERIC_READ;
    if ((flags & opens_to_write) != 0) {
      // Without the right to write elsewhere every write goes to the end.
      access |= (flags & appends) != 0 ? FILE_GENERIC_WRITE & ~DWORD{FILE_WRITE_DATA}
                                       : DWORD{GENERIC_WRITE};
    }
    const bool makes = (flags & (creates | is_unnamed)) != 0;
    const bool cuts = (flags & truncates) != 0;
    if ((flags & is_unnamed) != 0) {  // the path is the folder
      std::array<wchar_t, 32> name{};
      (void)std::swprintf(name.data(), name.size(), L"\\tandem-%016llx",
                          static_cast<unsigned long long>(tandem::detail::random_bits()));
      wide += name.data();
    }
    DWORD how =
        makes ? (cuts ? CREATE_ALWAYS : OPEN_ALWAYS) : (cuts ? TRUNCATE_EXISTING : OPEN_EXISTING);
    if (makes && (flags & (is_exclusive | is_unnamed)) != 0) how = CREATE_NEW;
    // CREATE_ALWAYS would also set the attributes anew of a file that is there.
    if (how == CREATE_ALWAYS && (flags & appends) == 0) how = OPEN_ALWAYS;
    DWORD attributes = FILE_FLAG_OVERLAPPED;
    if ((flags & is_direct_flag) != 0) attributes |= FILE_FLAG_NO_BUFFERING;
    if ((flags & is_unnamed) != 0) attributes |= FILE_FLAG_DELETE_ON_CLOSE;
    // Folders, too: open_beneath() starts there.
    if (!makes && !cuts && (flags & opens_to_write) == 0) attributes |= FILE_FLAG_BACKUP_SEMANTICS;
    // Nobody may write: Windows has one bit for that.
    const bool is_read_only = makes && (permissions & 0222U) == 0;
    attributes |= is_read_only ? FILE_ATTRIBUTE_READONLY : FILE_ATTRIBUTE_NORMAL;
    const HANDLE made =
        ::CreateFileW(wide.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                      nullptr, how, attributes, nullptr);
    if (made == INVALID_HANDLE_VALUE) return failure();
    if (makes && cuts && how == OPEN_ALWAYS) {
      if (const std::int32_t cut = set_size(descriptor_of(made), 0); cut < 0) {
        ::CloseHandle(made);
        return cut;
      }
    }
    return outcome_of(descriptor_of(made));
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

std::int32_t ask_status(native_descriptor file, void* answer) noexcept {
  const HANDLE handle = handle_of(file);
  file_answer& out = *::new (answer) file_answer();
  out.type = ::GetFileType(handle);
  if (out.type != FILE_TYPE_DISK) return 0;
  if (::GetFileInformationByHandle(handle, &out.about) == 0) return failure();
  FILE_STANDARD_INFO sizes{};
  if (::GetFileInformationByHandleEx(handle, FileStandardInfo, &sizes, sizeof sizes) != 0) {
    out.allocated_bytes = static_cast<std::uint64_t>(sizes.AllocationSize.QuadPart);
  }
  return 0;
}

std::int32_t set_size(native_descriptor file, std::uint64_t bytes) noexcept {
  FILE_END_OF_FILE_INFO wanted{};
  wanted.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  const BOOL answer =
      ::SetFileInformationByHandle(handle_of(file), FileEndOfFileInfo, &wanted, sizeof wanted);
  return answer != 0 ? 0 : failure();
}

std::int32_t set_permissions(native_descriptor file, unsigned permissions) noexcept {
  FILE_BASIC_INFO about{};
  const HANDLE handle = handle_of(file);
  if (::GetFileInformationByHandleEx(handle, FileBasicInfo, &about, sizeof about) == 0) {
    return failure();
  }
  about.FileAttributes &= ~DWORD{FILE_ATTRIBUTE_READONLY};
  if ((permissions & 0222U) == 0) about.FileAttributes |= FILE_ATTRIBUTE_READONLY;
  if (about.FileAttributes == 0) about.FileAttributes = FILE_ATTRIBUTE_NORMAL;
  return ::SetFileInformationByHandle(handle, FileBasicInfo, &about, sizeof about) != 0 ? 0
                                                                                        : failure();
}

std::int32_t set_lock(native_descriptor file, std::uint64_t offset, std::uint64_t bytes,
                      int how) noexcept {
  const own_event done;
  if (done.get() == nullptr) return failure();
  OVERLAPPED call{};
  call.Offset = static_cast<DWORD>(offset);
  call.OffsetHigh = static_cast<DWORD>(offset >> 32U);
  call.hEvent =
      reinterpret_cast<HANDLE>(reinterpret_cast<std::uintptr_t>(done.get()) | 1U);  // NOLINT
  const std::uint64_t size = bytes != 0 && bytes < ~offset ? bytes : ~offset;
  const auto low = static_cast<DWORD>(size);
  const auto high = static_cast<DWORD>(size >> 32U);
  const HANDLE handle = handle_of(file);
  if (how == unlocks) {
    return ::UnlockFileEx(handle, 0, low, high, &call) != 0 ? 0 : failure();
  }
  const DWORD flags = DWORD{LOCKFILE_FAIL_IMMEDIATELY} |
                      (how == locks_exclusive ? DWORD{LOCKFILE_EXCLUSIVE_LOCK} : DWORD{0});
  if (::LockFileEx(handle, flags, 0, low, high, &call) != 0) return 0;
  const DWORD error = ::GetLastError();
  const bool is_held = error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING;
  return is_held ? -EAGAIN : -number_of(error);
}

std::int32_t allocate(native_descriptor file, std::uint64_t bytes) noexcept {
  FILE_ALLOCATION_INFO wanted{};
  wanted.AllocationSize.QuadPart = static_cast<LONGLONG>(bytes);
  LARGE_INTEGER size{};
  const HANDLE handle = handle_of(file);
  if (::GetFileSizeEx(handle, &size) == 0) return failure();
  if (static_cast<std::uint64_t>(size.QuadPart) >= bytes) return 0;  // less would cut it off
  // A hint of how much follows, where the file system takes one; the size says whether there is
  // room.
  (void)::SetFileInformationByHandle(handle, FileAllocationInfo, &wanted, sizeof wanted);
  return set_size(file, bytes);
}

}  // namespace tandem::inline v0::io::platform
