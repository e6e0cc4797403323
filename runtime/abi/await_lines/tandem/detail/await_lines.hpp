// await_lines.hpp: whether frames know where they wait; how the library was built, as far as its callers have to do the same.
// SPDX-License-Identifier: MIT
//
// The build takes one of two files of this name (TANDEM_AWAIT_LINES) and installs it.
#pragma once

/// 1: each co_await writes its place into its frame: 8 bytes a frame, a store an await. Dumps show
/// the lines.
#define TANDEM_ABI_AWAIT_LINES 1
