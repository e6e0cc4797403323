// descriptor.hpp: what all descriptors have in common.
// SPDX-License-Identifier: MIT
//
// Nothing here fails.
#pragma once

#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::platform {

/// Any thread; waits where its owner has asked for that (tcp_options::linger), or a file system's
/// server makes it.
///
/// pre: open, and nobody else uses it
/// post: the number may be another one's, whatever the system has answered
void close(native_descriptor descriptor) noexcept;

/// Any thread. Whether the number is somebody's right now. pre: any number
bool is_open(native_descriptor descriptor) noexcept;

}  // namespace tandem::inline v0::io::platform
