// foreign_file_test.cpp: files among the descriptors of a foreign loop.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tandem/event.hpp>
#include <tandem/io/foreign_loop.hpp>

#include "io/support/loop_support.hpp"

namespace {

using tandem::event;
using tandem::task;
using tandem::io::foreign_loop;
using tandem::io::native_descriptor;
using tandem::io::ready_events;
using tandem::io::watch_interest;
using tandem::test::in_a_loop;

TEST(foreign_loop, a_file_on_a_disk_is_always_ready) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    event often;
    int calls = 0;
    loop.watch(file, watch_interest::read, [&](native_descriptor, ready_events events) {
      EXPECT_EQ(events, ready_events(true, false, false, false));
      if (++calls == 3) often.set();
    });
    co_await often.wait();
    loop.forget(file);
    ::close(file);
  });
}

}  // namespace
