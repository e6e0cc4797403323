// recording_runtime.hpp: a runtime for a test, which keeps the failures that were suppressed.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "test_runtime.hpp"

namespace tandem::test {

class recording_runtime {
 public:
  explicit recording_runtime(unsigned threads = 2) : recording_runtime(with_threads(threads)) {}
  explicit recording_runtime(runtime_options options) : runtime_(recorded(std::move(options))) {}
  template <class T>
  T run(task<T> body) {
    return runtime_.run(std::move(body));
  }
  /// What they said, sorted: who is suppressed first is nobody's business.
  std::vector<std::string> suppressed() {
    const std::lock_guard guard(lock_);
    std::sort(seen_.begin(), seen_.end());
    return seen_;
  }

 private:
  runtime_options recorded(runtime_options made) {
    made.on_suppressed_exception = [this](const std::exception_ptr& failure) {
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& e) {
        const std::lock_guard guard(lock_);
        seen_.emplace_back(e.what());
      }
    };
    return made;
  }
  std::mutex lock_;
  std::vector<std::string> seen_;
  test_runtime runtime_;
};

}  // namespace tandem::test
