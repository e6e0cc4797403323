// no_descriptors.hpp: a process that can open nothing more, for a while.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tandem::test {

/// While it lives, `spare` further descriptors can be opened. With none to spare that holds even if others are closed
/// meanwhile (the stall watch of a completion pool opens a file for a moment, see loopback_ports.hpp); with some,
/// nobody may close any.
class no_descriptors {
 public:
  explicit no_descriptors(int spare = 0) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int lowest = ::dup(0);  // the next one that would be given out
    EXPECT_GT(lowest, 0);
    ::close(lowest);
    rlimit none = before_;
    // One and not zero: poll() of one descriptor needs it. Descriptor 0 is open, as dup() has just shown.
    none.rlim_cur = spare == 0 ? 1 : static_cast<rlim_t>(lowest + spare);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;
  ~no_descriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

}  // namespace tandem::test
