// descriptor.cpp: errors and ends of descriptors.
// SPDX-License-Identifier: MIT
#include "platform/descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tandem::inline v0::io::platform {

void throw_last_error(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void close(native_descriptor descriptor) noexcept { ::close(descriptor); }

}  // namespace tandem::inline v0::io::platform
