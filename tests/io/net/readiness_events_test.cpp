// readiness_events_test.cpp: waiting for descriptors of Linux that are no sockets.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <tandem/io/readiness.hpp>
#include <tandem/task_scope.hpp>

#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::io::readable;
using tandem::io::writable;
using tandem::test::on_every_home;

TEST(readiness, events_and_files_are_waited_for_like_sockets) {
  on_every_home([]() -> task<void> {
    const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    co_await writable(event);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](int fd) -> task<void> { co_await readable(fd); }(event));
      const std::uint64_t one = 1;
      EXPECT_EQ(::write(event, &one, sizeof one), 8);
      co_return;
    });
    ::close(event);
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    co_await readable(file);  // always
    ::close(file);
  });
}

TEST(readiness, a_timer_is_read_after_its_time_has_come) {
  on_every_home([]() -> task<void> {
    const int timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    itimerspec soon{};
    soon.it_value.tv_nsec = 1'000'000;
    EXPECT_EQ(::timerfd_settime(timer, 0, &soon, nullptr), 0);
    std::uint64_t expired = 0;
    while (::read(timer, &expired, sizeof expired) < 0 && errno == EAGAIN) {
      co_await readable(timer);
    }
    EXPECT_EQ(expired, 1U);
    ::close(timer);
  });
}

}  // namespace
