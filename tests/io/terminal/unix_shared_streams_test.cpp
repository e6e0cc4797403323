// unix_shared_streams_test.cpp: terminals, devices and modes of descriptions that others share.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/io/shared_streams.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "io/terminal/shared_kinds.hpp"
#include "no_descriptors.hpp"
#include "pseudo_terminal.hpp"
#include "refusal_text.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::bytes_of;
using tandem::io::shared_input;
using tandem::io::shared_output;
using tandem::test::a_lot;
using tandem::test::is_blocking;
using tandem::test::on_every_home;
using tandem::test::on_every_kind;
using tandem::test::plain_pair;
using tandem::test::put_plain;
using tandem::test::take_plain;
using tandem::test::text_from;

TEST(shared_input, two_lines_of_a_terminal_that_come_at_once_are_read_one_after_the_other) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    shared_input input = shared_input::of(ends.first());
    auto waiting = tandem::spawn(text_from(input));
    co_await tandem::sleep_for(1ms);
    put_plain(ends.second(), "one\ntwo\nthree\n");
    EXPECT_EQ(co_await waiting, "one\n");
    EXPECT_EQ(co_await text_from(input), "two\n");
    EXPECT_EQ(co_await text_from(input), "three\n");
  });
}

TEST(shared_input, a_terminal_that_is_gone_has_ended) {
  on_every_home([]() -> task<void> {
    plain_pair ends = plain_pair::terminal();
    shared_input input = shared_input::of(ends.first());
    auto waiting = tandem::spawn(text_from(input));
    co_await tandem::sleep_for(1ms);
    ends.close_second();
    EXPECT_EQ(co_await waiting, "");
    EXPECT_EQ(co_await text_from(input), "");
  });
}

TEST(shared_input, a_key_ends_what_is_read_of_a_terminal) {
  on_every_home([]() -> task<void> {
    const plain_pair terminal = plain_pair::terminal();
    shared_input keys = shared_input::of(terminal.first());
    put_plain(terminal.second(), "\x04");
    EXPECT_EQ(co_await text_from(keys), "");
  });
}

TEST(shared_streams, leave_the_mode_of_the_description_as_it_was) {
  on_every_kind([](plain_pair& ends) -> task<void> {
    {
      shared_input input = shared_input::of(ends.first());
      auto waiting = tandem::spawn(text_from(input));
      co_await tandem::sleep_for(1ms);
      put_plain(ends.second(), "x\n");
      EXPECT_EQ(co_await waiting, "x\n");
    }
    EXPECT_TRUE(is_blocking(ends.first()));
    shared_output output = shared_output::of(ends.second());
    co_await output.write_all(bytes_of("y\n"));
    EXPECT_TRUE(is_blocking(ends.second()));
  });
}

TEST(shared_streams, devices_that_never_wait_are_read_and_written) {
  on_every_home([]() -> task<void> {
    const int zero = ::open("/dev/zero", O_RDWR | O_CLOEXEC);
    shared_input input = shared_input::of(zero);
    shared_output output = shared_output::of(zero);
    EXPECT_EQ(co_await text_from(input, 3), std::string(3, '\0'));
    co_await output.write_all(bytes_of("nowhere"));
    ::close(zero);
  });
}

TEST(shared_input, a_stop_ends_the_wait_for_what_a_device_has_to_say) {
  const int said = ::open("/dev/kmsg", O_RDONLY | O_CLOEXEC);
  if (said < 0) GTEST_SKIP() << "the kernel's messages are not to be read by this user";
  on_every_home([&]() -> task<void> {
    shared_input input = shared_input::of(said);
    bool was_stopped = false;
    while (!was_stopped) {  // now and then there is a message
      (void)::lseek(said, 0, SEEK_END);
      const auto read = co_await as_result(tandem::with_timeout(2ms, text_from(input, 8192)));
      was_stopped = read.is_cancelled();
    }
  });
  ::close(said);
}

TEST(shared_output, a_terminal_takes_what_is_written_as_it_goes_out) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    std::string text;
    for (int line = 0; line < 5000; ++line) text += std::to_string(line) + "\n";
    std::string shown;  // a terminal makes two of each line's end
    for (const char each : text) shown += each == '\n' ? std::string("\r\n") : std::string(1, each);
    shared_output output = shared_output::of(ends.first());
    const auto take = [&] { return take_plain(ends.second(), shown.size()); };
    auto writing = tandem::spawn([](shared_output& to, const std::string& all) -> task<void> {
      co_await to.write_all(bytes_of(all));
    }(output, text));
    EXPECT_EQ(co_await tandem::blocking(take), shown);
    co_await writing;
  });
}

TEST(shared_streams, the_end_of_a_pseudo_terminal_at_which_keys_are_struck_is_one_too) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    shared_output keys = shared_output::of(ends.second());
    co_await keys.write_all(bytes_of("typed\n"));
    EXPECT_EQ(take_plain(ends.first(), 6), "typed\n");
    shared_input screen = shared_input::of(ends.second());
    EXPECT_EQ(co_await text_from(screen), "typed\r\n") << "its echo";
    EXPECT_TRUE(is_blocking(ends.second()));
  });
}

TEST(shared_output, a_disk_that_is_full_is_an_error) {
  on_every_home([]() -> task<void> {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    shared_output output = shared_output::of(full);
    const auto ended = co_await as_result(output.write_all(bytes_of("x")));
    EXPECT_EQ(ended.error(), std::errc::no_space_on_device);
    ::close(full);
  });
}

TEST(shared_streams, without_a_descriptor_to_spare_nothing_is_lost) {
  on_every_kind([](plain_pair& ends) -> task<void> {
    shared_input input = shared_input::of(ends.first());
    std::array<std::byte, 8> room;
    {
      const tandem::test::no_descriptors none;
      EXPECT_THROW((void)shared_input::of(ends.first()), std::system_error);
      // A ring waits without one. Asio does not: no number above 2 can be had (EINVAL).
      const auto ended = co_await as_result(tandem::with_timeout(2ms, input.read(room)));
      EXPECT_TRUE(ended.is_cancelled() || ended.error() == std::errc::invalid_argument)
          << ended.error();
    }
    put_plain(ends.second(), "still\n");
    EXPECT_EQ(co_await text_from(input), "still\n");
  });
}

TEST(shared_output, a_stop_ends_the_wait_for_a_terminal_of_which_nobody_takes_anything) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    shared_output output = shared_output::of(ends.first());
    const std::vector<std::byte> much = a_lot();
    const auto stopped = co_await as_result(tandem::with_timeout(2ms, output.write_all(much)));
    EXPECT_TRUE(stopped.is_cancelled());
  });
}

TEST(shared_streams, a_terminal_that_was_given_may_be_closed_at_once) {
  on_every_home([]() -> task<void> {
    plain_pair ends = plain_pair::terminal();
    shared_input input = shared_input::of(ends.first());
    put_plain(ends.second(), "still\n");
    const int also_open = ::fcntl(ends.first(), F_DUPFD_CLOEXEC, 3);  // else it is hung up
    ends.close_first();
    EXPECT_EQ(co_await text_from(input), "still\n");
    ::close(also_open);
  });
}

TEST(shared_streams, a_device_that_was_opened_to_write_is_not_read) {
  on_every_home([]() -> task<void> {
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    std::error_code refusal;
    try {
      (void)shared_input::of(null);
    } catch (const std::system_error& refused) {
      refusal = refused.code();
    }
    EXPECT_EQ(refusal, std::errc::bad_file_descriptor);
    ::close(null);
    co_return;
  });
}

TEST(standard_streams,
     one_that_the_process_was_started_without_is_not_taken_for_what_has_its_number) {
  on_every_home([]() -> task<void> {
    const int kept = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
    ::close(0);
    EXPECT_THROW((void)tandem::io::standard_input(), std::system_error);
    const int low = ::open("/dev/null", O_RDWR | O_CLOEXEC);  // as the library opens all of its own
    EXPECT_EQ(low, 0);
    EXPECT_EQ(tandem::test::refusal_code([] { (void)tandem::io::standard_input(); }),
              std::errc::bad_file_descriptor);
    ::dup2(kept, 0);
    ::close(kept);
    EXPECT_TRUE(tandem::io::standard_input().is_open());
    co_return;
  });
}

}  // namespace
