// descriptor.cpp: the end of descriptors, and whether that has come.
// SPDX-License-Identifier: MIT
#include "platform/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace tandem::inline v0::io::platform {

void close(native_descriptor descriptor) noexcept { ::close(descriptor); }

bool is_open(native_descriptor descriptor) noexcept { return ::fcntl(descriptor, F_GETFD) >= 0; }

}  // namespace tandem::inline v0::io::platform
