// thread_exit.hpp: what is called when a thread ends.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

using thread_exit_function = void (*)() noexcept;

/// Whose function: one each for a thread.
enum class exit_step : std::uint8_t { frames, notes, datagram_rooms, record_rooms, trace_rings };
inline constexpr unsigned exit_steps = static_cast<unsigned>(exit_step::trace_rings) + 1;

/// Has `run` called when the calling thread ends, after its thread_locals were destroyed; what is
/// trivial of them is still there. Not for the thread of main(). In no order. A thread_local with a
/// destructor would end the process if there were no memory to register it, and MinGW's has no
/// memory any more when it is destroyed.
///
/// post: a second call for the same step replaces the first
/// @returns  false if that is refused: nothing will be called
TANDEM_API bool at_thread_exit(exit_step step, thread_exit_function run) noexcept;

}  // namespace tandem::inline v0::detail
