// fork_support.hpp: children of a test, and what they are refused.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <string>
#include <tandem/errors.hpp>

#include "sanitized.hpp"

namespace tandem::test {

inline constexpr unsigned child_limit_seconds = 50;

// GCC's AddressSanitizer (12) copies its allocator as it stands, with locks that other threads
// hold: a child made while they allocate cannot allocate. glibc and clang's sanitizers see to
// theirs.
#if defined(__clang__)
inline constexpr bool child_may_allocate = true;
#else
inline constexpr bool child_may_allocate = !address_sanitized;
#endif

/// Runs `body` in a child. @returns its exit status (99: it threw), or 1000 + the signal that ended
/// it
inline int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(child_limit_seconds);  // a child that hangs is a failed test
    int status = 99;
    try {
      status = body();
    } catch (...) {
      status = 99;
    }
    ::_exit(status);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// Whether `use` throws forked_runtime, which names `what` and the parent.
inline bool refused(const std::string& what, const std::function<void()>& use) {
  try {
    use();
  } catch (const forked_runtime& e) {
    return std::string(e.what()).find(what) == 0 && e.owner_process() == ::getppid();
  }
  return false;
}

/// In a child: ends it with status 0 if `use` terminates with a forked_runtime that names `what`.
inline int terminates(const std::string& what, const std::function<void()>& use) {
  static const std::string* expected = nullptr;
  expected = &what;
  std::set_terminate([] {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const forked_runtime& e) {
      ::_exit(std::string(e.what()).find(*expected) == 0 ? 0 : 18);
    } catch (...) {
      ::_exit(19);
    }
  });
  use();
  return 17;
}

}  // namespace tandem::test
