// random.hpp: random numbers for jitter and for breaking ties; of no cryptographic worth.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

/// 64 random bits: by the seed of the runtime in a task of a runtime with a virtual clock, else by
/// the thread's own generator.
TANDEM_API std::uint64_t random_bits() noexcept;

}  // namespace tandem::inline v0::detail
