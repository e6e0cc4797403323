// await_lines.hpp: whether frames know where they wait; how the library was built, as far as its callers have to do the same.
// SPDX-License-Identifier: MIT
//
// The build takes one of two files of this name (TANDEM_AWAIT_LINES) and installs it.
#pragma once

/// 0: a frame does not say at which co_await it waits.
#define TANDEM_ABI_AWAIT_LINES 0
