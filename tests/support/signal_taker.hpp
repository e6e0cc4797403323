// signal_taker.hpp: a thread that takes signals.
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <span>
#include <stop_token>
#include <thread>

namespace tandem::test {

/// In a plain build any thread that does not block them would do; but ThreadSanitizer holds a signal
/// back until its thread calls something that it intercepts, and main waits in a bare futex. If two
/// come to such a thread at once, it may even forget (clang 19) to unblock all signals again.
///
/// While it lives the thread that has made it, which also ends it, blocks these signals, and so do
/// those that it starts. The runtime's block all of them anyway.
class signal_taker {
 public:
  explicit signal_taker(std::span<const int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int each : signals) sigaddset(&set, each);
    thread_ = std::jthread([](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
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

}  // namespace tandem::test
