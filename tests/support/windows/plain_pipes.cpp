// plain_pipes.cpp: pipes on Windows: with a name, since those without cannot be overlapped.
// SPDX-License-Identifier: MIT
#include "plain_pipes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

namespace tandem::test {

namespace {

io::native_descriptor descriptor_of(HANDLE handle) {
  return reinterpret_cast<io::native_descriptor>(handle);  // NOLINT: it is one
}
HANDLE handle_of(io::native_descriptor descriptor) {
  return reinterpret_cast<HANDLE>(descriptor);  // NOLINT
}

/// A call that is waited for here, whatever port the handle has joined: the lowest bit says so.
class own_call {
 public:
  own_call() : event_(::CreateEventW(nullptr, TRUE, FALSE, nullptr)) {
    call_.hEvent = reinterpret_cast<HANDLE>(reinterpret_cast<std::uintptr_t>(event_) | 1U);
  }
  own_call(const own_call&) = delete;
  own_call& operator=(const own_call&) = delete;
  ~own_call() { ::CloseHandle(event_); }

  OVERLAPPED* get() { return &call_; }
  /// @param answer  of the call that was begun
  std::ptrdiff_t end(HANDLE of, BOOL answer) {
    if (answer == 0 && ::GetLastError() != ERROR_IO_PENDING) return -1;
    DWORD bytes = 0;
    return ::GetOverlappedResult(of, &call_, &bytes, TRUE) != 0 ? std::ptrdiff_t{bytes} : -1;
  }

 private:
  HANDLE event_;
  OVERLAPPED call_{};
};

}  // namespace

std::array<io::native_descriptor, 2> new_plain_pipe() {
  static std::atomic<int> number{0};
  const std::string name = R"(\\.\pipe\tandem-test-plain-)" +
                           std::to_string(::GetCurrentProcessId()) + "-" + std::to_string(++number);
  const HANDLE reads = ::CreateNamedPipeA(name.c_str(), PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED,
                                          PIPE_TYPE_BYTE, 1, 4096, 4096, 0, nullptr);
  const HANDLE writes = ::CreateFileA(name.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
                                      FILE_FLAG_OVERLAPPED, nullptr);
  EXPECT_NE(writes, INVALID_HANDLE_VALUE);
  return {descriptor_of(reads), descriptor_of(writes)};
}
void close_plain_pipe(io::native_descriptor end) { ::CloseHandle(handle_of(end)); }

std::ptrdiff_t read_plain_pipe(io::native_descriptor reader, std::span<std::byte> room) {
  own_call call;
  const HANDLE from = handle_of(reader);
  return call.end(
      from, ::ReadFile(from, room.data(), static_cast<DWORD>(room.size()), nullptr, call.get()));
}
std::ptrdiff_t write_plain_pipe(io::native_descriptor writer, std::span<const std::byte> bytes) {
  own_call call;
  const HANDLE to = handle_of(writer);
  return call.end(
      to, ::WriteFile(to, bytes.data(), static_cast<DWORD>(bytes.size()), nullptr, call.get()));
}

void fill_plain_pipe(io::native_descriptor writer) {
  const std::vector<std::byte> page(4096);
  const HANDLE to = handle_of(writer);
  while (true) {
    own_call call;
    if (::WriteFile(to, page.data(), static_cast<DWORD>(page.size()), nullptr, call.get()) != 0) {
      continue;
    }
    ::CancelIoEx(to, call.get());
    (void)call.end(to, TRUE);
    return;
  }
}

}  // namespace tandem::test
