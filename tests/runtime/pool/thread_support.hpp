// thread_support.hpp: a journal for many threads, and what each can tell of itself (system.hpp).
// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "system.hpp"

namespace tandem::test {

/// What happened, in order; from any thread.
class journal {
 public:
  void write(std::string line) {
    const std::lock_guard guard(lock_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> read() {
    const std::lock_guard guard(lock_);
    return lines_;
  }

 private:
  std::mutex lock_;
  std::vector<std::string> lines_;
};

}  // namespace tandem::test
