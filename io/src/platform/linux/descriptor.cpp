// descriptor.cpp: the end of descriptors.
// SPDX-License-Identifier: MIT
#include "platform/descriptor.hpp"

#include <unistd.h>

namespace tandem::inline v0::io::platform {

void close(native_descriptor descriptor) noexcept { ::close(descriptor); }

}  // namespace tandem::inline v0::io::platform
