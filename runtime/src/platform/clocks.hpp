// clocks.hpp: clocks beside the steady one: CPU time, and a counter that is cheap to read.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

namespace tandem::inline v0::platform {

/// What all threads of the process have used. post: never falls
std::chrono::nanoseconds cpu_time_of_process() noexcept;

/// Whether ticks() is a clock: the same on all CPUs, at one pace, going on while CPUs sleep. The
/// answer stays what it was first.
bool has_ticks() noexcept;
/// A counter of unknown pace, cheaper to read than the steady clock. pre: has_ticks()
std::uint64_t ticks() noexcept;

}  // namespace tandem::inline v0::platform
