// file_system.cpp: what tests ask of Windows about files and processes.
// SPDX-License-Identifier: MIT
#include "file_system.hpp"

#include <gtest/gtest.h>

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>
// It needs it.
#include <winioctl.h>

#include <array>
#include <filesystem>

namespace tandem::test {

namespace {

/// pre: `path` is UTF-8, as tandem's are
HANDLE open_as(const std::string& path, DWORD access, DWORD how, DWORD attributes) {
  const std::filesystem::path name(std::u8string(path.begin(), path.end()));
  return ::CreateFileW(name.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                       nullptr, how, attributes, nullptr);
}

HANDLE handle_of(any_handle handle) { return reinterpret_cast<HANDLE>(handle); }  // NOLINT

}  // namespace

// Opening a file past the cache, without another handle to it, empties its part of the cache.
void drop_from_cache(const std::string& path) {
  const HANDLE file = open_as(path, GENERIC_READ, OPEN_EXISTING, FILE_FLAG_NO_BUFFERING);
  EXPECT_NE(file, INVALID_HANDLE_VALUE);
  ::CloseHandle(file);
}

// A file's part of the cache is emptied as a whole, and by whoever has the only handle.
void drop_part_from_cache(any_handle /*file*/, std::uint64_t /*at*/, std::size_t /*bytes*/) {}

bool take_away(const std::string& path) {
  const std::wstring whole = std::filesystem::absolute(path).make_preferred().wstring();
  return ::DeleteFileW((LR"(\\?\)" + whole).c_str()) != 0;
}

void put_zeros(const std::string& path, std::uint64_t bytes) {
  const HANDLE file = open_as(path, GENERIC_READ | GENERIC_WRITE, CREATE_ALWAYS, 0);
  DWORD answered = 0;
  // Where a file system knows none it takes the room.
  (void)::DeviceIoControl(file, FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &answered, nullptr);
  LARGE_INTEGER end{};
  end.QuadPart = static_cast<LONGLONG>(bytes);
  EXPECT_NE(::SetFilePointerEx(file, end, nullptr, FILE_BEGIN), 0);
  EXPECT_NE(::SetEndOfFile(file), 0);
  ::CloseHandle(file);
}

std::uint64_t number_of_file(const std::string& path) {
  const HANDLE file = open_as(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, 0);
  if (file == INVALID_HANDLE_VALUE) return 0;
  BY_HANDLE_FILE_INFORMATION about{};
  (void)::GetFileInformationByHandle(file, &about);
  ::CloseHandle(file);
  return (std::uint64_t{about.nFileIndexHigh} << 32U) | about.nFileIndexLow;
}

bool is_inherited(any_handle handle) {
  DWORD flags = 0;
  return ::GetHandleInformation(handle_of(handle), &flags) != 0 &&
         (flags & HANDLE_FLAG_INHERIT) != 0;
}
void let_inherit(any_handle handle) {
  EXPECT_NE(::SetHandleInformation(handle_of(handle), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT), 0);
}

child_process::child_process(const std::string& filter) {
  std::array<wchar_t, 1024> self{};
  EXPECT_NE(::GetModuleFileNameW(nullptr, self.data(), static_cast<DWORD>(self.size())), 0U);
  std::wstring line = L"\"" + std::wstring(self.data()) + L"\" --gtest_filter=" +
                      std::wstring(filter.begin(), filter.end());
  STARTUPINFOW start{};
  start.cb = sizeof start;
  PROCESS_INFORMATION made{};
  EXPECT_NE(::CreateProcessW(self.data(), line.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr,
                             &start, &made),
            0);
  ::CloseHandle(made.hThread);
  process_ = reinterpret_cast<any_handle>(made.hProcess);  // NOLINT
}
child_process::~child_process() {
  if (process_ != 0) kill();
}
bool child_process::kill() {
  const HANDLE process = handle_of(process_);
  process_ = 0;
  constexpr UINT by_us = 137;
  DWORD code = 0;
  const bool is_ours = ::TerminateProcess(process, by_us) != 0 &&
                       ::WaitForSingleObject(process, INFINITE) == WAIT_OBJECT_0 &&
                       ::GetExitCodeProcess(process, &code) != 0 && code == by_us;
  ::CloseHandle(process);
  return is_ours;
}

}  // namespace tandem::test
