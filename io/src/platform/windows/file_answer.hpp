// file_answer.hpp: what Windows tells of a file.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

struct file_answer {
  DWORD type = FILE_TYPE_UNKNOWN;
  BY_HANDLE_FILE_INFORMATION about{};
  std::uint64_t allocated_bytes = 0;
};

}  // namespace tandem::inline v0::io::platform
