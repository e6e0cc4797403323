// config.cpp: what a failed assertion says.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

void detail::assertion_failed(const char* condition, const char* message, const char* file,
                              int line) noexcept {
  std::fprintf(stderr, "tandem: %s\n  condition %s is false at %s:%d\n", message, condition, file,
               line);
  std::abort();
}

}  // namespace tandem::inline v0
