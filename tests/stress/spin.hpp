// spin.hpp: lets a moment pass, so that threads meet at another point of their ways.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::test {

/// So many locked additions, some 5 ns each.
inline void spin(std::uint64_t turns) {
  for (std::atomic<std::uint64_t> i = 0; i < turns; ++i) {}
}

}  // namespace tandem::test
