// refusals_system.hpp: what refusals.cpp asks of the system, while memory is refused; linux/ and windows/.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem::test {

/// A word of the calling thread's own, 0 at first. Asks nobody for memory.
std::uintptr_t own_word() noexcept;
void set_own_word(std::uintptr_t word) noexcept;

/// Whether its name begins so, as the system keeps it.
bool is_this_thread_called(std::string_view prefix) noexcept;

/// From where the caller was called. The first time it may need memory. @returns how many there are
int take_stack(void** into, int most) noexcept;
/// On stderr, as the system knows them.
void print_stack(void* const* frames, int count) noexcept;

}  // namespace tandem::test
