// signal_set_test.cpp: signals that a process is sent.
// SPDX-License-Identifier: MIT
#include <tandem/io/signal_set.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <thread>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::test_runtime;

/// A thread that takes the signals. In a plain build any thread that does not block them would do;
/// but ThreadSanitizer holds a signal back until its thread calls something that it intercepts, and
/// main waits in a bare futex.
class signal_taker {
 public:
  signal_taker() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    thread_ = std::jthread([](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
    });
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~signal_taker() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signal_taker(const signal_taker&) = delete;
  signal_taker& operator=(const signal_taker&) = delete;

 private:
  sigset_t before_;
  std::jthread thread_;
};

TEST(signal_set, yields_the_signals_that_arrive_and_restores_what_was_there) {
  struct sigaction before{};
  ASSERT_EQ(sigaction(SIGUSR1, nullptr, &before), 0);
  const signal_taker taker;
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

}  // namespace
