// signal_dumps.hpp: the runtimes of this process that write a dump when the signal comes.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::inline v0::detail {

class insight;

/// @throws  std::system_error, std::bad_alloc
void dump_on_signal(insight& of);
/// Waits for a dump of it that is being written. Nothing if it was never added.
void no_dump_on_signal(insight& of) noexcept;

}  // namespace tandem::inline v0::detail
