// system.hpp: what puzzle asks of the system; system_unix.cpp and system_windows.cpp answer.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace puzzles {

/// The machine's memory; 0 where the system does not say.
std::uint64_t memory_bytes() noexcept;

/// Whether a person is looking at stderr.
bool stderr_is_terminal() noexcept;

/// The system's number of the calling thread.
int system_thread_id() noexcept;

}  // namespace puzzles
