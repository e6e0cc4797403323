// windows_pipe_test.cpp: which handles of Windows are taken over as ends of a pipe, and given back.
// SPDX-License-Identifier: MIT
#include <tandem/io/pipe.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/tcp_listener.hpp>

#include "io/process/pipe_refusal.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::make_pipe;
using tandem::io::native_descriptor;
using tandem::io::pipe_reader;
using tandem::io::pipe_writer;
using tandem::test::bytes_of;
using tandem::test::expect_refused;
using tandem::test::on_every_home;

native_descriptor descriptor_of(HANDLE handle) {
  return reinterpret_cast<native_descriptor>(handle);  // NOLINT: it is one
}
HANDLE handle_of(native_descriptor descriptor) {
  return reinterpret_cast<HANDLE>(descriptor);  // NOLINT
}

/// Both ends of a pipe that was made without tandem.
class foreign_pipe {
 public:
  explicit foreign_pipe(DWORD kind = PIPE_TYPE_BYTE, DWORD attributes = FILE_FLAG_OVERLAPPED) {
    static std::atomic<int> number{0};
    const std::string name = "\\\\.\\pipe\\tandem-test-pipe-" +
                             std::to_string(::GetCurrentProcessId()) + "-" +
                             std::to_string(++number);
    reads = descriptor_of(::CreateNamedPipeA(name.c_str(), PIPE_ACCESS_INBOUND | attributes, kind,
                                             1, 4096, 4096, 0, nullptr));
    writes = descriptor_of(
        ::CreateFileA(name.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, attributes, nullptr));
  }
  void close() const {
    ::CloseHandle(handle_of(reads));
    ::CloseHandle(handle_of(writes));
  }

  native_descriptor reads;
  native_descriptor writes;
};

TEST(windows_pipe, overlapped_ends_of_others_are_taken_over_and_are_not_inherited) {
  on_every_home([]() -> task<void> {
    const foreign_pipe made;
    ::SetHandleInformation(handle_of(made.writes), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    pipe_reader reader = pipe_reader::from_native(made.reads);
    pipe_writer writer = pipe_writer::from_native(made.writes);
    DWORD flags = 0;
    EXPECT_NE(::GetHandleInformation(handle_of(writer.native_handle()), &flags), 0);
    EXPECT_EQ(flags & HANDLE_FLAG_INHERIT, 0U);
    co_await writer.write_all(bytes_of("theirs"));
    std::array<std::byte, 8> room;
    EXPECT_EQ(co_await reader.read(room), 6U);
    writer.close();
    EXPECT_EQ(co_await reader.read(room), 0U);
  });
}

TEST(windows_pipe, what_is_no_end_of_that_kind_is_not_taken_over) {
  on_every_home([]() -> task<void> {
    const foreign_pipe made;
    expect_refused<pipe_reader>(made.writes, "is the writing end");
    expect_refused<pipe_writer>(made.reads, "is the reading end");
    made.close();
    expect_refused<pipe_writer>(999'996, "is not open");
    const foreign_pipe messages(PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE);
    expect_refused<pipe_reader>(messages.reads, "is a pipe of messages");
    messages.close();
    const foreign_pipe waits(PIPE_TYPE_BYTE, 0);
    expect_refused<pipe_reader>(waits.reads, "without FILE_FLAG_OVERLAPPED");
    waits.close();
    const tandem::test::temporary_folder folder;
    const HANDLE file = ::CreateFileA((folder / "f").c_str(), GENERIC_WRITE, 0, nullptr,
                                      CREATE_ALWAYS, FILE_FLAG_OVERLAPPED, nullptr);
    expect_refused<pipe_writer>(descriptor_of(file), "is no pipe");
    ::CloseHandle(file);
    auto listener = tandem::io::tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
    expect_refused<pipe_reader>(listener.native_handle(), "is no pipe");
    co_return;
  });
}

TEST(windows_pipe, one_that_has_joined_another_port_is_refused_with_the_cure) {
  on_every_home([]() -> task<void> {
    const foreign_pipe made;
    const HANDLE port = ::CreateIoCompletionPort(handle_of(made.reads), nullptr, 1, 1);
    expect_refused<pipe_reader>(made.reads, "belongs to another completion port");
    made.close();
    ::CloseHandle(port);
    co_return;
  });
}

TEST(windows_pipe, a_released_end_is_the_callers_and_usual_calls_work_on_it) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = make_pipe();
    const native_descriptor released = writer.release();
    EXPECT_FALSE(writer.is_open());
    DWORD written = 0;
    EXPECT_NE(::WriteFile(handle_of(released), "x", 1, &written, nullptr), 0);
    std::array<std::byte, 8> room;
    EXPECT_EQ(co_await reader.read(room), 1U);
    ::CloseHandle(handle_of(released));
    EXPECT_EQ(co_await reader.read(room), 0U);
  });
}

}  // namespace
