// unix_file_test.cpp: files as Linux and its like have them: devices, pipes, limits, memory, leases.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <tandem/as_result.hpp>
#include <tandem/io/file.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "io/support/lease.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::file_kind;
using tandem::io::file_status;
using tandem::io::open_mode;
using tandem::io::open_options;
using tandem::test::bytes_of;
using tandem::test::failure_of;
using tandem::test::get;
using tandem::test::lease;
using tandem::test::new_file;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::temporary_folder;

using rooms = std::vector<std::span<std::byte>>;

TEST(unix_file, one_call_moves_less_than_was_asked_for_and_the_rest_follows) {
  const std::size_t each = 132U << 20;  // sixteen are more than a system call moves
  std::vector<std::byte> memory(each);
  tandem::test::test_runtime rt;
  rt.run([&]() -> task<void> {
    file zeros = co_await file::open("/dev/zero");
    const rooms list(16, std::span<std::byte>(memory));
    EXPECT_EQ(co_await zeros.read_at(list, 0), 16 * each);
  }());
}

TEST(unix_file, failures_name_the_file_and_what_was_tried) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    EXPECT_EQ(co_await failure_of(file::open(folder / "none")),
              "file::open \"" + folder / "none" + "\": No such file or directory");
    open_options fresh = new_file();
    fresh.exclusive = true;
    EXPECT_EQ((co_await as_result(file::open(folder / "f", fresh))).error(),
              std::errc::file_exists);
    EXPECT_EQ((co_await as_result(file::open(folder.path(), new_file()))).error(),
              std::errc::is_a_directory);
    EXPECT_EQ(co_await failure_of(file::open(std::string("a\0b", 3))),
              "file::open \"a\" (the path has a zero byte): Invalid argument");
    std::array<std::byte, 10> got{};
    file directory = co_await file::open(folder.path());
    EXPECT_EQ(co_await failure_of(directory.read_at(got, 5)),
              "file::read_at \"" + folder.path() + "\" at offset 5: Is a directory");
    co_await directory.sync();
    file readable = co_await file::open(folder / "f");
    EXPECT_EQ(co_await failure_of(readable.write_all_at(got, 0)),
              "file::write_at \"" + folder / "f" +
                  "\" at offset 0 (it was opened for reading only): Bad file descriptor");
    file writable = co_await file::open(folder / "f", open_mode::write);
    EXPECT_EQ(co_await failure_of(writable.read_at(got, 0)),
              "file::read_at \"" + folder / "f" +
                  "\" at offset 0 (it was opened for writing only): Bad file descriptor");
    EXPECT_EQ(co_await failure_of(readable.truncate(0)),
              "file::truncate \"" + folder / "f" + "\": Invalid argument");
    file full = co_await file::open("/dev/full", open_mode::write);
    EXPECT_EQ((co_await as_result(full.write_at(got, 0))).error(), std::errc::no_space_on_device);
    EXPECT_EQ((co_await as_result(full.append(got))).error(), std::errc::no_space_on_device);
    EXPECT_EQ((co_await as_result(full.sync())).error(), std::errc::invalid_argument);
    file none;
    EXPECT_EQ(co_await failure_of(none.read_at(got, 0)),
              "file::read_at \"\" at offset 0 (it is not open): Bad file descriptor");
    EXPECT_EQ((co_await as_result(none.status())).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(none.truncate(0))).error(), std::errc::bad_file_descriptor);
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    co_await readable.advise(tandem::io::file_access::soon, 0, SIZE_MAX);  // not a negative number
    file pipe = file::from_native(ends[0]);
    EXPECT_EQ((co_await as_result(pipe.read_at(got, 0))).error(), std::errc::invalid_seek);
    ::close(ends[1]);
  });
}

TEST(unix_file, a_file_that_may_not_grow_takes_what_it_may_and_then_says_so) {
  const temporary_folder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 10'000;
  const std::vector<std::byte> bytes = pattern(9000, 3);
  on_every_home([&]() -> task<void> {
    file out = co_await file::open(folder / "f", new_file());
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_EQ(co_await out.write_at(bytes, 0), 9000U);
    EXPECT_EQ(co_await out.write_at(bytes, 9000), 1000U);
    const auto refused = co_await as_result(out.write_at(bytes, 10'000));
    const auto refused_all = co_await as_result(out.write_all_at(bytes, 9000));
    const auto refused_size = co_await as_result(out.truncate(20'000));
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(refused.error(), std::errc::file_too_large);
    EXPECT_EQ(refused_all.error(), std::errc::file_too_large);
    EXPECT_EQ(refused_size.error(), std::errc::file_too_large);
    EXPECT_EQ((co_await out.status()).size, 10'000U);
  });
}

TEST(unix_file, what_lies_in_memory_is_transferred_in_place) {
  on_every_home([]() -> task<void> {
    const int made = ::memfd_create("in memory", MFD_CLOEXEC);
    file both = file::from_native(made);
    tandem::io::completion_pool& pool = tandem::io::current_completion_pool("");
    const auto before = pool.stats().submitted;
    co_await both.write_all_at(bytes_of("in memory"), 5);
    std::array<std::byte, 20> got{};
    EXPECT_EQ(co_await both.read_at(got, 0), 14U);
    EXPECT_EQ(std::memcmp(got.data() + 5, "in memory", 9), 0);
    file shared = file::from_native(::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    EXPECT_EQ(co_await shared.write_at(got, 0), got.size());
    EXPECT_EQ(pool.stats().submitted, before);
  });
}

TEST(unix_file, status_is_what_the_system_says) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("12345"));
  EXPECT_EQ(::chmod((folder / "f").c_str(), 0640), 0);
  on_every_home([&]() -> task<void> {
    file both = co_await file::open(folder / "f", open_mode::read_write);
    struct ::stat known{};
    EXPECT_EQ(::fstat(both.native_handle(), &known), 0);
    const file_status found = co_await both.status();
    EXPECT_EQ(found.kind, file_kind::regular);
    EXPECT_EQ(found.permissions, 0640U);
    EXPECT_EQ(found.inode, known.st_ino);
    EXPECT_EQ(found.links, 1U);
    EXPECT_EQ(found.modified.time_since_epoch(),
              std::chrono::seconds(known.st_mtim.tv_sec) +
                  std::chrono::nanoseconds(known.st_mtim.tv_nsec));
    co_await both.truncate(100'000);
    EXPECT_EQ((co_await both.status()).size, 100'000U);
    co_await both.truncate(5);
    co_await both.sync();
    EXPECT_EQ(get(folder / "f"), "12345");
    const auto allocated = co_await as_result(both.allocate(0, 50'000));
    if (allocated) {
      EXPECT_EQ((co_await both.status()).size, 50'000U);
      EXPECT_GE((co_await both.status()).allocated_bytes, 50'000U);
      co_await both.truncate(5);
    } else {
      EXPECT_EQ(allocated.error(), std::errc::operation_not_supported);
    }
    file directory = co_await file::open(folder.path());
    EXPECT_EQ((co_await directory.status()).kind, file_kind::directory);
    file null = co_await file::open("/dev/null");
    EXPECT_EQ((co_await null.status()).kind, file_kind::character);
  });
}

TEST(unix_file, a_stop_that_interrupts_the_system_is_a_cancel_or_comes_too_late) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("bytes"));
  on_every_home([&]() -> task<void> {
    lease held(folder / "f");
    if (!held.is_held()) co_return;  // not every file system has leases
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 32; ++i) {  // more than the kernel has threads for
        scope.spawn([](std::string path) -> task<void> {
          const auto opened = co_await as_result(file::open(path));
          EXPECT_TRUE(opened || opened.is_cancelled()) << opened.error().message();
        }(folder / "f"));
      }
      co_await tandem::sleep_for(2ms);
      scope.request_stop();
      co_await tandem::shielded(tandem::sleep_for(2ms));
      held.end();
      co_return;
    });
  });
}

TEST(unix_file, opening_does_not_wait_for_the_other_end_of_a_pipe) {
  const temporary_folder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  on_every_home([&]() -> task<void> {
    file reader = co_await file::open(folder / "pipe");
    EXPECT_EQ(::fcntl(reader.native_handle(), F_GETFL) & O_NONBLOCK, 0);
    const file writer = co_await file::open(folder / "pipe", open_mode::write);
    EXPECT_EQ(::fcntl(writer.native_handle(), F_GETFL) & O_NONBLOCK, 0);
    // A pipe has no places to read at, and it is not waited for either.
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{2} << 20}) {
      std::vector<std::byte> room(bytes);
      const auto got = co_await tandem::as_result(reader.read_at(room, 0));
      EXPECT_EQ(got.error(), std::errc::invalid_seek) << bytes;
    }
  });
}

}  // namespace
