// fast_ticks.hpp: the counter of clocks.hpp, where it is one instruction.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "platform/clocks.hpp"

namespace tandem::inline v0::platform {

/// ticks(), without a call where the compiler has it. pre: has_ticks()
inline std::uint64_t fast_ticks() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_ia32_rdtsc();
#else
  return ticks();
#endif
}

}  // namespace tandem::inline v0::platform
