// failed_cas.hpp: how many compare-and-exchange operations have failed since the start.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// 0 where the build does not count them.
#if TANDEM_COUNT_FAILED_CAS
std::uint64_t failed_cas() noexcept;
#else
inline std::uint64_t failed_cas() noexcept { return 0; }
#endif
