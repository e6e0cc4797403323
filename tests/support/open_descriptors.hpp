// open_descriptors.hpp: how many descriptors this process holds.
// SPDX-License-Identifier: MIT
//
// Not counted: files below /proc (the stall watch of a completion pool opens one for a moment,
// whenever a busy machine makes a thread late), and the pipes of UndefinedBehaviorSanitizer, which
// any thread opens for a moment when it meets a kind of object that is new to it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include "sanitized.hpp"

namespace tandem::test {

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || target.starts_with("/proc/")) continue;
    if (address_sanitized && target.starts_with("pipe:")) continue;
    ++count;
  }
  return count;
}

}  // namespace tandem::test
