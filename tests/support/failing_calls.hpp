// failing_calls.hpp: calls about sockets fail as the system rarely lets them; linux/ and windows/.
// SPDX-License-Identifier: MIT
//
// What is linked with it takes the place of the system's recv() and accept(), and on Windows of
// closesocket(), WSAPoll() and GetAddrInfoW(), in the whole executable, tandem's own calls included; not of
// what a ring does.
#pragma once

#include <tandem/io/completion_options.hpp>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::test {

/// Of the backends that make these calls the one that every build for this system has.
io::io_backend backend_by_calls() noexcept;

/// From now on each read of that socket finds its connection aborted; no_descriptor: of none.
void abort_reads_of(io::native_descriptor socket) noexcept;
/// The next so many calls that would accept a connection tell, as this system does, that the one
/// that was next has been reset.
void reset_before_accept(int times) noexcept;
/// How many of those are still to come.
int resets_left() noexcept;
/// That socket has something left to send when it is closed, and time for that (SO_LINGER): where
/// a close that would block fails, it stays open unless it blocks.
void has_more_to_send(io::native_descriptor socket) noexcept;

/// From now on poll() keeps to itself that a connect has failed, as old versions of Windows do.
void hide_failed_connects(bool hides) noexcept;
/// Whether names are looked up as on a machine that has no address but loopback's.
void has_no_network(bool has_none) noexcept;

}  // namespace tandem::test
