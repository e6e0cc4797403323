// native_descriptor.hpp: what the operating system calls an open socket or file.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/detail/platform/descriptor_type.hpp>

namespace tandem::inline v0::io {

/// A descriptor, as the system's own functions take it: an int; on Windows an integer that holds a
/// SOCKET or a HANDLE.
using native_descriptor = detail::descriptor_type;

/// What is no descriptor.
inline constexpr native_descriptor no_descriptor = detail::no_descriptor_value;

}  // namespace tandem::inline v0::io
