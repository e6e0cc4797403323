// refusals_system.cpp: what refusals.cpp asks of Linux.
// SPDX-License-Identifier: MIT
#include "refusals_system.hpp"

#include <execinfo.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace tandem::test {

namespace {
constinit thread_local std::uintptr_t word_of_thread = 0;
}  // namespace

std::uintptr_t own_word() noexcept { return word_of_thread; }
void set_own_word(std::uintptr_t word) noexcept { word_of_thread = word; }

bool is_this_thread_called(std::string_view prefix) noexcept {
  char name[16] = {};
  (void)::prctl(PR_GET_NAME, name, 0, 0, 0);
  return std::string_view(name).starts_with(prefix);
}

int take_stack(void** into, int most) noexcept { return ::backtrace(into, most); }
void print_stack(void* const* frames, int count) noexcept {
  ::backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

}  // namespace tandem::test
