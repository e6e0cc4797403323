// windows_shared_streams_test.cpp: which handles Windows lets be shared, and that ours are given back.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/shared_streams.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/timeout.hpp>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "io/terminal/shared_kinds.hpp"
#include "plain_pair.hpp"
#include "windows/own_handles.hpp"

namespace {

using tandem::task;
using tandem::io::bytes_of;
using tandem::io::native_descriptor;
using tandem::io::shared_input;
using tandem::io::shared_output;
using tandem::test::on_every_home;
using tandem::test::on_every_kind;
using tandem::test::plain_pair;
using tandem::test::temporary_folder;
using tandem::test::text_from;

native_descriptor open(const std::string& path, DWORD access, DWORD flags) {
  const HANDLE made =
      ::CreateFileW(std::filesystem::path(path).c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE,
                    nullptr, OPEN_EXISTING, flags, nullptr);
  EXPECT_NE(made, INVALID_HANDLE_VALUE);
  return reinterpret_cast<native_descriptor>(made);  // NOLINT: it is one
}

std::error_code refusal_of_input(native_descriptor descriptor) {
  try {
    (void)shared_input::of(descriptor);
  } catch (const std::system_error& refused) {
    return refused.code();
  }
  return {};
}

/// Of pipes, and of events and threads: what a call that can be stopped has.
std::size_t open_handles() {
  std::size_t count = 0;
  tandem::test::for_each_own_handle([&](HANDLE each) {
    const DWORD type = ::GetFileType(each);
    if (type != FILE_TYPE_DISK) ++count;
  });
  return count;
}

TEST(windows_shared_streams, a_device_that_never_waits_is_read_and_written) {
  on_every_home([]() -> task<void> {
    const native_descriptor nothing = open("NUL", GENERIC_READ | GENERIC_WRITE, 0);
    shared_input input = shared_input::of(nothing);
    shared_output output = shared_output::of(nothing);
    EXPECT_EQ(co_await text_from(input), "");
    co_await output.write_all(bytes_of("nowhere"));
    tandem::test::close_descriptor(nothing);
  });
}

TEST(windows_shared_streams, sockets_and_overlapped_files_are_refused) {
  on_every_home([]() -> task<void> {
    const temporary_folder folder;
    tandem::test::put(folder / "f", bytes_of("text"));
    const native_descriptor file = open(folder / "f", GENERIC_READ, FILE_FLAG_OVERLAPPED);
    EXPECT_EQ(refusal_of_input(file), std::errc::not_supported);
    tandem::test::close_descriptor(file);
    const auto socket = tandem::io::udp_socket::bind(tandem::io::endpoint::loopback_v4(0));
    EXPECT_EQ(refusal_of_input(socket.native_handle()), std::errc::not_supported);
    co_return;
  });
}

TEST(windows_shared_streams, give_back_every_handle_also_of_what_was_stopped) {
  const auto round = [](plain_pair& ends) -> task<void> {
    for (int i = 0; i < 10; ++i) {
      shared_input input = shared_input::of(ends.first());
      shared_output output = shared_output::of(ends.second());
      (void)co_await tandem::as_result(
          tandem::with_timeout(std::chrono::microseconds(300), text_from(input)));
      co_await output.write_all(bytes_of("x"));
      EXPECT_EQ(co_await text_from(input), "x");
    }
  };
  on_every_kind(round);  // what the system opens once for all
  const std::size_t before = open_handles();
  on_every_kind(round);
  EXPECT_LE(open_handles(), before + 4) << "each round would leave tens of them";
}

}  // namespace
