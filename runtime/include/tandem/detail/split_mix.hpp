// split_mix.hpp: SplitMix64, a small generator whose every seed is as good as any other.
// SPDX-License-Identifier: MIT
//
// Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014).
#pragma once

#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

/// Bits that follow one another become bits that have nothing to do with one another.
constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31);
}

inline constexpr std::uint64_t split_mix_step = 0x9E3779B97F4A7C15U;

/// The next number of the generator in `state`.
constexpr std::uint64_t split_mix(std::uint64_t& state) noexcept {
  return mixed(state += split_mix_step);
}

}  // namespace tandem::inline v0::detail
