// plain_pair.cpp: anonymous pipes, named ones that are overlapped, files.
// SPDX-License-Identifier: MIT
#include "plain_pair.hpp"

#include <gtest/gtest.h>

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

#include <atomic>
#include <filesystem>

namespace tandem::test {

namespace {

HANDLE handle_of(io::native_descriptor which) {
  return reinterpret_cast<HANDLE>(which);  // NOLINT: it is one
}
io::native_descriptor descriptor_of(HANDLE which) {
  return reinterpret_cast<io::native_descriptor>(which);  // NOLINT
}

/// The first one is overlapped, the second one is not: it blocks whoever writes to it.
plain_pair overlapped_pipe() {
  static std::atomic<int> made{0};
  const std::string name = R"(\\.\pipe\tandem-test-)" + std::to_string(::GetCurrentProcessId()) +
                           "-" + std::to_string(++made);
  const HANDLE reads = ::CreateNamedPipeA(name.c_str(), PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED,
                                          PIPE_TYPE_BYTE | PIPE_WAIT, 1, 4096, 4096, 0, nullptr);
  EXPECT_NE(reads, INVALID_HANDLE_VALUE);
  const HANDLE writes =
      ::CreateFileA(name.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, 0, nullptr);
  EXPECT_NE(writes, INVALID_HANDLE_VALUE);
  return {descriptor_of(reads), descriptor_of(writes)};
}

constexpr pair_maker kinds[] = {&plain_pair::pipe, &overlapped_pipe};
constexpr DWORD standard_names[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};

}  // namespace

void put_plain(io::native_descriptor to, std::string_view text) {
  DWORD count = 0;
  EXPECT_NE(
      ::WriteFile(handle_of(to), text.data(), static_cast<DWORD>(text.size()), &count, nullptr), 0);
  EXPECT_EQ(count, text.size());
}

// An event of its own, for handles that are overlapped.
std::string take_plain(io::native_descriptor from, std::size_t bytes) {
  std::string got(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    OVERLAPPED call{};
    call.hEvent = ::CreateEventW(nullptr, TRUE, FALSE, nullptr);
    const bool is_file = ::GetFileType(handle_of(from)) == FILE_TYPE_DISK;  // at its position
    DWORD count = 0;
    BOOL answer = ::ReadFile(handle_of(from), got.data() + have, static_cast<DWORD>(bytes - have),
                             &count, is_file ? nullptr : &call);
    if (answer == 0 && ::GetLastError() == ERROR_IO_PENDING) {
      answer = ::GetOverlappedResult(handle_of(from), &call, &count, TRUE);
    }
    ::CloseHandle(call.hEvent);
    if (answer == 0 || count == 0) break;
    have += count;
  }
  got.resize(have);
  return got;
}

void close_descriptor(io::native_descriptor which) noexcept { ::CloseHandle(handle_of(which)); }

io::native_descriptor open_plain(const std::string& path, bool appends) {
  const DWORD access =
      GENERIC_READ | (appends ? FILE_GENERIC_WRITE & ~DWORD{FILE_WRITE_DATA} : GENERIC_WRITE);
  const HANDLE made = ::CreateFileW(std::filesystem::path(path).c_str(), access,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_EXISTING, 0, nullptr);
  EXPECT_NE(made, INVALID_HANDLE_VALUE);
  return descriptor_of(made);
}

plain_pair plain_pair::pipe() {
  HANDLE reads = nullptr;
  HANDLE writes = nullptr;
  EXPECT_NE(::CreatePipe(&reads, &writes, nullptr, 0), 0);
  return {descriptor_of(reads), descriptor_of(writes)};
}

std::span<const pair_maker> kinds_of_pairs() { return kinds; }
std::span<const pair_maker> kinds_without_terminals() { return kinds; }

other_standard_streams::other_standard_streams(io::native_descriptor in,
                                               io::native_descriptor out) {
  const io::native_descriptor now[] = {in, out, out};
  for (int i = 0; i < 3; ++i) {
    before_[i] = descriptor_of(::GetStdHandle(standard_names[i]));
    EXPECT_NE(::SetStdHandle(standard_names[i], handle_of(now[i])), 0);
  }
}

other_standard_streams::~other_standard_streams() {
  for (int i = 0; i < 3; ++i) ::SetStdHandle(standard_names[i], handle_of(before_[i]));
}

}  // namespace tandem::test
