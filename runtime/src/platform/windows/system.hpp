// system.hpp: the one place that includes windows.h.
// SPDX-License-Identifier: MIT
#pragma once

#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>

#include <cstdint>
#include <system_error>

namespace tandem::inline v0::platform {

/// What the last call of this thread failed with.
inline std::error_code last_error() noexcept {
  return {static_cast<int>(::GetLastError()), std::system_category()};
}

/// Windows counts time in steps of 100 ns.
inline constexpr std::int64_t ns_per_step = 100;

}  // namespace tandem::inline v0::platform
