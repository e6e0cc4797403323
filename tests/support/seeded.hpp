// seeded.hpp: the random numbers of a stress test; the seed is printed and can be given.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <tandem/detail/split_mix.hpp>
#include <utility>

#include "watchdog.hpp"

namespace tandem::test {

/// TANDEM_STRESS_SEED, else a fresh one; printed, so that a failure can be repeated.
inline std::uint64_t stress_seed() {
  const char* const given = std::getenv("TANDEM_STRESS_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("TANDEM_STRESS_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

/// Bits that say what happens at a place of a run, for places that are numbered one after the other.
constexpr std::uint64_t mix(std::uint64_t number) noexcept {
  return tandem::detail::split_mix(number);
}

/// Calls `round(random)` until the stress time is over, `otherwise` if nobody set it, and
/// `is_enough()`; at least once.
template <class Round, class Enough>
void stress_until(std::chrono::milliseconds otherwise, Enough is_enough, Round round) {
  std::mt19937_64 random(stress_seed());
  const auto until = std::chrono::steady_clock::now() + stress_time(otherwise);
  do {
    round(random);
  } while ((std::chrono::steady_clock::now() < until || !is_enough()) &&
           !::testing::Test::HasFailure());
}
template <class Round>
void stress_for(std::chrono::milliseconds otherwise, Round round) {
  stress_until(otherwise, [] { return true; }, std::move(round));
}
template <class Round>
void stress(Round round) {
  stress_for(std::chrono::seconds(2), std::move(round));
}

/// Whether this is the nightly run, which does by number what CI does a part of.
inline bool is_nightly() { return stress_time(std::chrono::milliseconds(0)).count() != 0; }

}  // namespace tandem::test
