// signal_set_test.cpp: signals that a process is sent.
// SPDX-License-Identifier: MIT
#include <tandem/io/signal_set.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>

#include "no_descriptors.hpp"
#include "signal_taker.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::test_runtime;

TEST(signal_set, yields_the_signals_that_arrive_and_restores_what_was_there) {
  struct sigaction before{};
  ASSERT_EQ(sigaction(SIGUSR1, nullptr, &before), 0);
  const tandem::test::signal_taker taker(std::array{SIGUSR1, SIGUSR2});
  test_runtime rt;
  rt.run([]() -> task<void> {
    tandem::io::signal_set signals({SIGUSR1, SIGUSR2});
    EXPECT_THROW(tandem::io::signal_set again({SIGUSR1}), std::logic_error);
    EXPECT_THROW(tandem::io::signal_set never({SIGKILL}), std::system_error);
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(co_await signals.wait(), SIGUSR1);
    const auto waits = [](tandem::io::signal_set& set) -> task<int> {
      co_return co_await set.wait();
    };
    EXPECT_TRUE(
        (co_await tandem::as_result(tandem::with_timeout(2ms, waits(signals)))).is_cancelled());
    auto waiting = tandem::spawn(waits(signals));
    co_await tandem::sleep_for(1ms);
    ::kill(::getpid(), SIGUSR2);
    EXPECT_EQ(co_await waiting, SIGUSR2);
  }());
  struct sigaction after{};
  ASSERT_EQ(sigaction(SIGUSR1, nullptr, &after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(signal_set, a_wait_needs_no_descriptor_that_is_left) {
  const tandem::test::signal_taker taker(std::array{SIGUSR1});
  test_runtime rt;
  rt.run([]() -> task<void> {
    tandem::io::signal_set signals({SIGUSR1});
    const tandem::test::no_descriptors none;
    ::kill(::getpid(), SIGUSR1);
    const auto came = co_await tandem::as_result(signals.wait());
    EXPECT_EQ(came ? came.value() : came.error().value(), SIGUSR1);
  }());
}

}  // namespace
