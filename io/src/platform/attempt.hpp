// attempt.hpp: one operation, tried without blocking.
// SPDX-License-Identifier: MIT
//
// For the first try on a thread that is not the socket's (operations/submit), and for a backend
// that knows readiness only. Any thread, one at a time for each operation: whoever may complete it.
//
// A failure is an outcome as backends tell it: a negative error number (error_number.hpp says of
// which kind). Nothing is thrown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/ready_events.hpp>

namespace tandem::inline v0::io::platform {

/// What it fails with is what the call that follows fails with. pre: a number, open or not
void set_non_blocking(native_descriptor descriptor) noexcept;

/// Answer of those below: nothing was done, and nothing can be done before the descriptor is
/// ready.
inline constexpr std::int32_t would_block = INT32_MIN;

/// The first try. pre: it was aimed at a number that is, or was, a descriptor; nobody else has it
/// post: neither completed nor told to anybody, which is the caller's; a connect goes on by itself
///
/// @returns  the outcome, or would_block
std::int32_t begin_attempt(detail::operation& operation) noexcept;
/// Another one, after the descriptor was said to be ready (which may be wrong by now); for kinds
/// that begin no connection and accept none it may be the first, too.
std::int32_t next_attempt(detail::operation& operation) noexcept;
/// Likewise, only after it was said. Where a datagram socket has nothing all the same, its error
/// queue is emptied: as long as that has something, the socket counts as ready.
std::int32_t attempt_when_ready(detail::operation& operation) noexcept;

/// A connection, if one is there, for a backend that is told of it without an operation. pre: the
/// listener was made non-blocking
///
/// @returns  a descriptor, the caller's, that is not inherited across exec; would_block; or an
///           error number, negative
std::int32_t accept_now(native_descriptor listener) noexcept;
/// Likewise of bytes, whatever mode the socket is in. @returns  as an operation of that kind
std::int32_t receive_now(native_descriptor socket, void* data, std::size_t bytes) noexcept;

/// What the outcome of wait_readable or wait_writable says, whichever backend it is of. pre: it is
/// no error number
ready_events events_of(std::int32_t outcome) noexcept;

}  // namespace tandem::inline v0::io::platform
