// file_commands.hpp: advice and locks, where the system has them.
// SPDX-License-Identifier: MIT
//
// Each answers with 0 or an error number, negative.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::inline v0::io::platform {

/// @param how  advice_flag(). Where the system takes none, nothing happens
std::int32_t advise(int file, std::uint64_t offset, std::size_t bytes, int how) noexcept;
/// Of the open file description, without waiting for another lock (EAGAIN).
/// @param bytes  0: to the end, wherever that will be
/// @param how    a lock_flag
std::int32_t set_lock(int file, std::uint64_t offset, std::uint64_t bytes, int how) noexcept;

}  // namespace tandem::inline v0::io::platform
