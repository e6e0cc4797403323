// samples.cpp: how many positions make a sample.
// SPDX-License-Identifier: MIT
#include "suite.hpp"

namespace tandem::bench {

namespace {

std::uint64_t positions = 8'000'000;  // a fifth of a second, or more

}  // namespace

void set_share(long divisor) { positions = 8'000'000 / static_cast<std::uint64_t>(divisor); }
std::uint64_t positions_of_a_sample() { return positions; }

}  // namespace tandem::bench
