// many_descriptors.hpp: a process that may open as many descriptors as its hard limit allows.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace tandem::test {

/// Raises the soft limit for the rest of the process. @returns  how many there may be
inline std::size_t allow_many_descriptors() {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return 0;
  now.rlim_cur = now.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &now);
  (void)::getrlimit(RLIMIT_NOFILE, &now);
  return static_cast<std::size_t>(now.rlim_cur);
}

}  // namespace tandem::test
