// unix_pipe_test.cpp: flags of a pipe's ends, FIFOs, and what is no pipe.
// SPDX-License-Identifier: MIT
#include <tandem/io/pipe.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/timeout.hpp>

#include "io/process/pipe_refusal.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::make_pipe;
using tandem::io::pipe_reader;
using tandem::io::pipe_writer;
using tandem::test::bytes_of;
using tandem::test::expect_refused;
using tandem::test::on_every_home;

TEST(pipe, ends_are_not_inherited_and_a_released_one_blocks_again) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = make_pipe();
    EXPECT_NE(::fcntl(reader.native_handle(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(writer.native_handle(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(writer.native_handle(), F_GETFL) & O_NONBLOCK, 0);
    const int released = writer.release();
    EXPECT_FALSE(writer.is_open());
    EXPECT_EQ(::fcntl(released, F_GETFL) & O_NONBLOCK, 0);
    writer = pipe_writer::from_native(released);
    co_await writer.write_all(bytes_of("x"));
    std::array<std::byte, 8> room;
    EXPECT_EQ(co_await reader.read(room), 1U);
  });
}

TEST(pipe, what_is_no_end_of_that_kind_is_not_taken_over) {
  on_every_home([]() -> task<void> {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    expect_refused<pipe_reader>(ends[1], "is the writing end");
    expect_refused<pipe_writer>(ends[0], "is the reading end");
    const int file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    expect_refused<pipe_writer>(file, "is no pipe");
    ::close(file);
    expect_refused<pipe_writer>(file, "is not open");
    for (const int each : ends) ::close(each);
    co_return;
  });
}

TEST(pipe, a_fifo_is_taken_over_by_either_end) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string path = folder / "fifo";
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int reads = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    pipe_reader reader = pipe_reader::from_native(reads);
    pipe_writer writer = pipe_writer::from_native(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    for (int round = 0; round < 2; ++round) {  // a FIFO may get another writer after its end
      std::array<std::byte, 8> room;
      co_await writer.write_all(bytes_of("fifo"));
      EXPECT_EQ(co_await reader.read(room), 4U);
      writer.close();
      EXPECT_EQ(co_await reader.read(room), 0U);
      writer = pipe_writer::from_native(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
      const auto waits = co_await as_result(tandem::with_timeout(1ms, reader.read(room)));
      EXPECT_EQ(waits.error(), std::errc::timed_out);
    }
  });
}

TEST(pipe, where_no_descriptor_is_left_none_is_made) {
  on_every_home([]() -> task<void> {
    std::error_code why;
    {
      const tandem::test::no_descriptors none;
      try {
        (void)make_pipe();
      } catch (const std::system_error& failure) {
        why = failure.code();
      }
    }
    EXPECT_EQ(why, std::errc::too_many_files_open);
    co_return;
  });
}

}  // namespace
