// attempt.hpp: one operation, tried without blocking.
// SPDX-License-Identifier: MIT
//
// For the first try on a thread that is not the socket's (operations/submit), and for a backend
// that knows readiness only.
#pragma once

#include <cstdint>
#include <tandem/io/detail/operation.hpp>

namespace tandem::inline v0::io {

/// What an operation waits for when it cannot be done at once.
enum class direction : std::uint8_t { read, write };

direction direction_of(detail::operation_kind kind) noexcept;

/// Whether any thread may try it before it is submitted: what is transferred or asked in one call.
bool is_tried_first(detail::operation_kind kind) noexcept;

/// Whether the descriptor is a socket of ours, whose mode nobody else relies on.
bool is_our_socket(detail::operation_kind kind) noexcept;

void set_non_blocking(int descriptor) noexcept;

/// Answer of the two below: nothing was done, and nothing can be done before the descriptor is
/// ready.
inline constexpr std::int32_t would_block = INT32_MIN;

/// The first try. @returns  the outcome, or would_block
std::int32_t begin_attempt(detail::operation& operation) noexcept;
/// Another one, after the descriptor was said to be ready (which may be wrong by now).
std::int32_t next_attempt(detail::operation& operation) noexcept;

}  // namespace tandem::inline v0::io
