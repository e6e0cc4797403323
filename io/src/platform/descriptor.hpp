// descriptor.hpp: what all descriptors have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::platform {

/// What the call before has failed with, on this thread. pre: it has just failed
/// @throws  std::system_error
[[noreturn]] void throw_last_error(const std::string& what);

/// pre: open, and nobody else uses it. The descriptor is gone in any case.
void close(native_descriptor descriptor) noexcept;

}  // namespace tandem::inline v0::io::platform
