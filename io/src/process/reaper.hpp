// reaper.hpp: ends and takes children that nobody waits for any more.
// SPDX-License-Identifier: MIT
#pragma once

#include "process/child_process.hpp"

namespace tandem::inline v0::io {

/// processes/abandon. Its end begins at once, the rest is the reaper's: `child` is. Any thread,
/// also after the runtime's end; it never waits, and asks for no memory that it cannot do without.
void abandon(detail::child_process& child) noexcept;

/// Takes what has ended, where the reaper has got no thread.
void sweep_abandoned() noexcept;

}  // namespace tandem::inline v0::io
