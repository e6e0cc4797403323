// dump_fixture.hpp: a runtime that a test drives, and its dump.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>

#include <tandem/dump.hpp>
#include <tandem/event.hpp>
#include <tandem/task.hpp>

#include "support/test_runtime.hpp"

namespace tandem::test {

/// Driven by the test: when it has run until it is idle, whatever waits is seen to wait.
class dump_of_driven : public testing::Test {
 protected:
  static runtime_options driven() {
    runtime_options options = with_threads(0);
    options.name = "dumped";
    return options;
  }
  std::string text(dump_options options = {}) {
    (*rt).run_until_idle();
    return (*rt).dump(options);
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++n;
    }
    return n;
  }

  test_runtime rt{driven()};
};

inline task<void> wait_for(event& what) { co_await what.wait(); }

}  // namespace tandem::test
