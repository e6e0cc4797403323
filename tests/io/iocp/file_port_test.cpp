// file_port_test.cpp: which files join the pool's port, who serves the others, and how a wait there ends.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/file.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::native_descriptor;
using tandem::io::open_mode;
using tandem::test::bytes_of;
using tandem::test::get;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::temporary_folder;

native_descriptor descriptor_of(HANDLE handle) {
  return reinterpret_cast<native_descriptor>(handle);  // NOLINT: it is one
}

HANDLE open_by_hand(const std::string& path, DWORD attributes) {
  const HANDLE made = ::CreateFileA(path.c_str(), GENERIC_READ | GENERIC_WRITE,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_EXISTING, attributes, nullptr);
  EXPECT_NE(made, INVALID_HANDLE_VALUE) << path;
  return made;
}

std::uint64_t submitted_so_far() {
  return tandem::io::current_completion_pool("").stats().submitted;
}

/// Both ends of a pipe with a name, opened with FILE_FLAG_OVERLAPPED.
class named_pipe {
 public:
  named_pipe() {
    static std::atomic<int> number{0};
    const std::string name = "\\\\.\\pipe\\tandem-test-" + std::to_string(::GetCurrentProcessId()) +
                             "-" + std::to_string(++number);
    const HANDLE made = ::CreateNamedPipeA(name.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED,
                                           PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT, 1, 4096,
                                           4096, 0, nullptr);
    EXPECT_NE(made, INVALID_HANDLE_VALUE);
    reader = file::from_native(descriptor_of(made), name);
    writer = file::from_native(descriptor_of(open_by_hand(name, FILE_FLAG_OVERLAPPED)), name);
  }
  file reader;
  file writer;
};

TEST(file_port, what_we_open_is_read_and_written_there) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    put(folder / "f", bytes_of("12345"));
    file both = co_await file::open(folder / "f", open_mode::read_write);
    const std::uint64_t before = submitted_so_far();
    std::array<std::byte, 8> room{};
    EXPECT_EQ(co_await both.read_at(room, 1), 4U);
    EXPECT_EQ(std::memcmp(room.data(), "2345", 4), 0);
    EXPECT_EQ(co_await both.write_at(bytes_of("abc"), 1), 3U);
    co_await both.append(bytes_of("!"));
    EXPECT_GE(submitted_so_far(), before + 3);
    EXPECT_EQ(get(folder / "f"), "1abc5!");
  });
}

TEST(file_port, at_the_end_of_a_file_and_beyond_nothing_is_read) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("12345"));
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    std::array<std::byte, 8> room{};
    for (const std::uint64_t at : {std::uint64_t{5}, std::uint64_t{6}, std::uint64_t{1} << 40}) {
      EXPECT_EQ(co_await source.read_at(room, at), 0U) << at;
    }
    put(folder / "empty", {});
    file empty = co_await file::open(folder / "empty");
    EXPECT_EQ(co_await empty.read_at(room, 0), 0U);
  });
}

TEST(file_port, a_handle_without_overlapped_is_served_by_blocking) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("12345"));
  on_every_home([&]() -> task<void> {
    file both = file::from_native(descriptor_of(open_by_hand(folder / "f", 0)));
    const std::uint64_t before = submitted_so_far();
    std::array<std::byte, 8> room{};
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(co_await both.read_at(room, 2), 3U);
      EXPECT_EQ(std::memcmp(room.data(), "345", 3), 0);
      EXPECT_EQ(co_await both.write_at(bytes_of("1"), 0), 1U);
    }
    EXPECT_EQ(submitted_so_far(), before);
  });
}

TEST(file_port, an_anonymous_pipe_is_served_by_blocking) {
  on_every_home([]() -> task<void> {
    HANDLE out = nullptr;
    HANDLE in = nullptr;
    EXPECT_NE(::CreatePipe(&out, &in, nullptr, 0), 0);
    file reader = file::from_native(descriptor_of(out));
    file writer = file::from_native(descriptor_of(in));
    EXPECT_EQ((co_await reader.status()).kind, tandem::io::file_kind::fifo);
    const std::uint64_t before = submitted_so_far();
    std::array<std::byte, 5> room{};
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(
          [](file& to) -> task<void> { co_await to.write_all_at(bytes_of("bytes"), 0); }(writer));
      co_await reader.read_exactly_at(room, 0);
    });
    EXPECT_EQ(std::memcmp(room.data(), "bytes", 5), 0);
    writer.close();
    EXPECT_EQ(co_await reader.read_at(room, 0), 0U);  // the end
    EXPECT_EQ(submitted_so_far(), before);
  });
}

TEST(file_port, a_handle_that_somebody_else_has_bound_is_refused_and_the_text_names_the_cure) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("12345"));
  const HANDLE other = ::CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1);
  on_every_home([&]() -> task<void> {
    const HANDLE bound = open_by_hand(folder / "f", FILE_FLAG_OVERLAPPED);
    EXPECT_EQ(::CreateIoCompletionPort(bound, other, 1, 0), other);
    file both = file::from_native(descriptor_of(bound), "bound");
    std::array<std::byte, 8> room{};
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ((co_await as_result(both.read_at(room, 0))).error(),
                std::errc::device_or_resource_busy);
      std::string said;
      try {
        (void)co_await both.write_at(bytes_of("x"), 0);
      } catch (const std::system_error& refused) {
        said = refused.what();
      }
      EXPECT_NE(said.find("file::write_at \"bound\""), std::string::npos) << said;
      EXPECT_NE(said.find("open the file anew, by file::open() or ReOpenFile()"), std::string::npos)
          << said;
    }
    co_await both.truncate(5);  // no transfer: it works
    both.close();               // and nothing is in flight
    EXPECT_EQ(get(folder / "f"), "12345");
  });
  OVERLAPPED_ENTRY packet{};
  ULONG count = 0;
  EXPECT_EQ(::GetQueuedCompletionStatusEx(other, &packet, 1, &count, 0, FALSE), 0) << "ours";
  ::CloseHandle(other);
}

TEST(file_port, whoever_wants_no_packet_of_what_succeeds_at_once_is_served_by_blocking) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("12345"));
  on_every_home([&]() -> task<void> {
    const HANDLE quiet = open_by_hand(folder / "f", FILE_FLAG_OVERLAPPED);
    EXPECT_NE(::SetFileCompletionNotificationModes(quiet, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS), 0);
    file source = file::from_native(descriptor_of(quiet));
    std::array<std::byte, 8> room{};
    EXPECT_EQ(co_await source.read_at(room, 0), 5U);
  });
}

TEST(file_port, a_file_that_has_joined_one_pool_is_served_in_another_one) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("12345"));
  file shared;
  for (int pools = 0; pools < 3; ++pools) {
    on_every_home([&]() -> task<void> {
      if (!shared.is_open()) shared = co_await file::open(folder / "f");
      std::array<std::byte, 8> room{};
      EXPECT_EQ(co_await shared.read_at(room, 0), 5U);
    });
  }
}

TEST(file_port, of_tasks_that_begin_at_once_each_is_served) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(64'000, 1);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    for (int round = 0; round < 10; ++round) {
      file source = co_await file::open(folder / "f");
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (std::size_t i = 0; i < 16; ++i) {
          scope.spawn([](file& f, const std::vector<std::byte>& all, std::size_t at) -> task<void> {
            std::vector<std::byte> room(4000);
            co_await f.read_exactly_at(room, at);
            EXPECT_EQ(std::memcmp(room.data(), all.data() + at, room.size()), 0);
          }(source, whole, i * 4000));
        }
        co_return;
      });
    }
  });
}

TEST(file_port, a_read_of_a_named_pipe_waits_for_bytes_and_ends_with_the_pipe) {
  on_every_home([]() -> task<void> {
    named_pipe pipe;
    std::array<std::byte, 6> room{};
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](file& to) -> task<void> {
        co_await to.write_all_at(bytes_of("one"), 0);
        co_await to.write_all_at(bytes_of("two"), 0);
      }(pipe.writer));
      co_await pipe.reader.read_exactly_at(room, 0);
    });
    EXPECT_EQ(std::memcmp(room.data(), "onetwo", 6), 0);
    pipe.writer.close();
    EXPECT_EQ(co_await pipe.reader.read_at(room, 0), 0U);
  });
}

TEST(file_port, a_stop_ends_a_read_of_a_named_pipe_and_the_pipe_is_read_on_afterwards) {
  on_every_home([]() -> task<void> {
    named_pipe pipe;
    std::array<std::byte, 4> room{};
    for (int round = 0; round < 5; ++round) {
      auto stopped = co_await as_result(tandem::with_timeout(1ms, pipe.reader.read_at(room, 0)));
      EXPECT_FALSE(stopped);
      // What comes in part is no cancel.
      co_await pipe.writer.write_all_at(bytes_of("ab"), 0);
      const std::size_t part =
          co_await [](file& from, std::array<std::byte, 4>& into) -> task<std::size_t> {
        std::size_t got = 0;
        co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
          scope.spawn([](file& f, std::array<std::byte, 4>& to, std::size_t& n) -> task<void> {
            n = co_await f.read_at(to, 0);
          }(from, into, got));
          co_await tandem::sleep_for(1ms);
          scope.request_stop();
        });
        co_return got;
      }(pipe.reader, room);
      // Or the stop came before the read had begun.
      if (part == 0) {
        co_await pipe.reader.read_exactly_at(std::span(room).first(2), 0);
      } else {
        EXPECT_EQ(part, 2U);
      }
      EXPECT_EQ(std::memcmp(room.data(), "ab", 2), 0);
    }
  });
}

TEST(file_port, a_file_that_was_released_before_it_was_read_joins_with_its_next_owner) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("12345"));
  on_every_home([&]() -> task<void> {
    file first = co_await file::open(folder / "f");
    (void)co_await first.status();
    file second = file::from_native(first.release());
    std::array<std::byte, 8> room{};
    EXPECT_EQ(co_await second.read_at(room, 0), 5U);
  });
}

}  // namespace
