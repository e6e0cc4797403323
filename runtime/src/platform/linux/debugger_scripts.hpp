// debugger_scripts.hpp: what gdb reads out of the program itself.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::inline v0::platform {

/// Does nothing. Who calls it has the scripts in the program, also from a static library.
void bring_debugger_scripts() noexcept;

}  // namespace tandem::inline v0::platform
