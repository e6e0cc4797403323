// shared_mode_test.cpp: while Linux waits for a descriptor of others their calls on it go on blocking.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <tandem/as_result.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/shared_streams.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "pseudo_terminal.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::shared_input;
using tandem::io::shared_output;
using tandem::test::is_blocking;
using tandem::test::on_every_home;
using tandem::test::plain_pair;

template <class Await>
task<void> expect_blocking_meanwhile(int descriptor, Await awaited) {
  auto waiting = tandem::spawn([](Await what) -> task<void> {
    (void)co_await tandem::as_result(tandem::with_timeout(20ms, std::move(what)));
  }(std::move(awaited)));
  for (int i = 0; i < 5; ++i) {
    co_await tandem::sleep_for(1ms);
    EXPECT_TRUE(is_blocking(descriptor));
  }
  co_await waiting;
  EXPECT_TRUE(is_blocking(descriptor));
}

TEST(shared_mode, who_waits_to_read_or_to_write_changes_nothing_for_others) {
  const std::vector<std::byte> much(std::size_t{1} << 20U);
  for (plain_pair (*make)() : {&plain_pair::pipe, &plain_pair::sockets, &plain_pair::terminal}) {
    on_every_home([&]() -> task<void> {
      const plain_pair ends = make();
      std::array<std::byte, 8> room;
      shared_input input = shared_input::of(ends.first());
      co_await expect_blocking_meanwhile(ends.first(), input.read(room));
      const bool is_terminal = ::isatty(ends.first()) != 0;
      // Of a terminal nobody takes what is shown.
      const int to = is_terminal ? ends.first() : ends.second();
      shared_output output = shared_output::of(to);
      co_await expect_blocking_meanwhile(to, output.write_all(much));
    });
  }
}

TEST(shared_mode, nor_does_who_waits_for_a_librarys_descriptor) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::pipe();
    co_await expect_blocking_meanwhile(ends.first(), tandem::io::readable(ends.first()));
  });
}

}  // namespace
