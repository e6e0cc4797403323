// futex_fork.hpp: the table of sleepers around fork().
// SPDX-License-Identifier: MIT
//
// Step lot/fork: README.md of the room platform.
#pragma once

namespace tandem::inline v0::platform {

/// Before a fork. pre: whatever runs before it, and may wait, has run
void lock_futexes() noexcept;
/// In the parent.
void unlock_futexes() noexcept;
/// In the child, where none of the sleepers is: unlocks, too.
void forget_sleepers() noexcept;

}  // namespace tandem::inline v0::platform
