// wait_note.cpp: the rest of a sentence about a wait.
// SPDX-License-Identifier: MIT
#include <cstdarg>
#include <cstdio>

#include <tandem/detail/wait_kind.hpp>

namespace tandem::inline v0::detail {

void wait_note::say(const char* format, ...) noexcept {
  va_list given;
  va_start(given, format);
  std::vsnprintf(more.data(), more.size(), format, given);
  va_end(given);
}

}  // namespace tandem::inline v0::detail
