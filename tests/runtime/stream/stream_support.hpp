// stream_support.hpp: what the tests of streams share.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/streams.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "planned_failure.hpp"

namespace tandem::test {

using ints = std::vector<int>;

/// What went to on_suppressed_exception counts.
inline int by_virtual_time(task<void> body, std::uint64_t seed = 1, unsigned workers = 1) {
  int suppressed = 0;
  runtime_options options;
  options.clock = virtual_time(seed, workers);
  options.on_suppressed_exception = [&suppressed](const std::exception_ptr&) { ++suppressed; };
  tandem::run(std::move(body), options);
  return suppressed;
}

inline stream<int> count_to(int n) {
  for (int i = 1; i <= n; ++i) co_yield int(i);
}
/// As above; each item takes its time.
inline stream<int> slowly_to(int n, std::chrono::milliseconds each) {
  for (int i = 1; i <= n; ++i) {
    co_await sleep_for(each);
    co_yield int(i);
  }
}

/// The items of a stream whose clean-up takes a while, and is noted.
class watched {
 public:
  int open() const noexcept { return open_; }
  int opened() const noexcept { return opened_; }

  stream<int> items(stream<int> made) {
    ++open_;
    ++opened_;
    co_yield elements_of(std::move(made) | streams::finally([this]() -> task<void> {
                           co_await sleep_for(std::chrono::milliseconds(3));
                           --open_;
                         }));
  }

 private:
  int open_ = 0;
  int opened_ = 0;
};

}  // namespace tandem::test
