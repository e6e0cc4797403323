// no_descriptors.hpp: a process that can open nothing more, for a while.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace tandem::test {

/// While it lives, `spare` further descriptors can be opened.
///
/// UndefinedBehaviorSanitizer looks at kinds of objects that are new to it through a pipe, and
/// calls them invalid when it gets none: it has to meet them before. Those of an error it meets
/// here.
class no_descriptors {
 public:
  explicit no_descriptors(int spare = 0) {
    const std::system_error known(EMFILE, std::generic_category(), "known");
    EXPECT_NE(known.what() + known.code().message(), std::string());
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int lowest = ::dup(0);  // the next one that would be given out
    ::close(lowest);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest + spare);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;
  ~no_descriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

}  // namespace tandem::test
