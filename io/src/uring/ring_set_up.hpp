// ring_set_up.hpp: makes the best ring that the kernel has.
// SPDX-License-Identifier: MIT
#pragma once

#include <liburing.h>

#include <tandem/io/detail/file_action.hpp>

namespace tandem::inline v0::io {

/// Probed, never assumed: SINGLE_ISSUER with DEFER_TASKRUN (completions are then delivered only
/// when the owner asks, in batches), else plainer rings. @returns an error number; 0: `ring` is
/// there
int set_up_ring(io_uring& ring, unsigned entries) noexcept;
/// Which actions on files this kernel has an entry for. pre: the ring has been set up
detail::file_action_set file_actions_of(io_uring& ring) noexcept;

/// Throws what says cause and cure.
[[noreturn]] void set_up_failed(const char* tried, int error);

}  // namespace tandem::inline v0::io
