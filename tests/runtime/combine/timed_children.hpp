// timed_children.hpp: children that end, well or not, after a while.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <tandem/sleep.hpp>
#include <tandem/task.hpp>

namespace tandem::test {

inline task<int> late(int n, std::chrono::microseconds after) {
  co_await sleep_for(after);
  co_return n;
}
inline task<int> fails(std::chrono::microseconds after, std::string text) {
  co_await sleep_for(after);
  throw std::runtime_error(text);
}

}  // namespace tandem::test
