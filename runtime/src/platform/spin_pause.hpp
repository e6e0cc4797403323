// spin_pause.hpp: what a spin loop does between two looks.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::inline v0::platform {

/// A short pause inside a spin loop; some ten to a hundred cycles. Never enters the system.
void spin_pause() noexcept;

}  // namespace tandem::inline v0::platform
