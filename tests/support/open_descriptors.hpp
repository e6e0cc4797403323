// open_descriptors.hpp: how many descriptors this process holds.
// SPDX-License-Identifier: MIT
//
// Not counted: files below /proc (the stall watch of a completion pool opens one for a moment,
// whenever a busy machine makes a thread late).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

namespace tandem::test {

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || target.starts_with("/proc/")) continue;
    ++count;
  }
  return count;
}

}  // namespace tandem::test
