// clock_hold.hpp: what keeps a virtual clock from moving: I/O, blocking calls, foreign threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

/// driving/clock. Before something real begins whose end will post to `owner`. Any thread.
TANDEM_API void hold_clock(tandem::runtime& owner) noexcept;
/// driving/clock. After that post.
TANDEM_API void release_clock(tandem::runtime& owner) noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
