// exception_traces.hpp: the exceptions that left coroutines lately, with their chains of awaits.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::inline v0::detail {

/// As a runtime begins: whatever the build says, unless somebody has said otherwise.
void begin_exception_traces() noexcept;

}  // namespace tandem::inline v0::detail
