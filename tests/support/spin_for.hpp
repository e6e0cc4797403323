// spin_for.hpp: keeps the calling thread for a while.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace tandem::test {

/// No yield in it: beside other programs each might cost a slice of theirs.
inline void spin_for(std::chrono::nanoseconds span) noexcept {
  const auto until = std::chrono::steady_clock::now() + span;
  while (std::chrono::steady_clock::now() < until) {}
}

}  // namespace tandem::test
