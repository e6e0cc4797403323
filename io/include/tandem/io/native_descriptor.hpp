// native_descriptor.hpp: what the operating system calls an open socket or file.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::inline v0::io {

/// A descriptor, as the system's own functions take it.
using native_descriptor = int;

/// What is no descriptor.
inline constexpr native_descriptor no_descriptor = -1;

}  // namespace tandem::inline v0::io
