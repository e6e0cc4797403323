// adopt.hpp: taking over a descriptor that somebody else has made.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/detail/socket.hpp>

namespace tandem::inline v0::io {

enum class adopted_kind : bool { stream, listener };

/// Checks that it is a TCP socket of that kind, and makes it one like ours: not inherited across
/// exec, and in blocking mode, since not every kernel's ring waits on a non-blocking socket.
///
/// @throws  std::system_error that says what it is instead; the descriptor is untouched then
void check_adopted(int descriptor, adopted_kind wanted, const char* what);

}  // namespace tandem::inline v0::io
