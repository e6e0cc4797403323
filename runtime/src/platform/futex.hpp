// futex.hpp: one thread waits for a word in memory, another wakes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::inline v0::platform {

/// No deadline: wait for ever.
inline constexpr std::int64_t no_deadline = INT64_MAX;

/// Blocks while `word == expected`, until woken or until the steady clock reaches `deadline_ns`.
///
/// pre:  both sides use this header: whoever changes the word wakes afterwards
/// post: none about the word: it returns early at will, so the caller looks again. A wake between
///       the caller's look at the word and its sleep is not lost, since the system compares again
/// @returns        false if the deadline has passed
/// @thread_safety  any thread, also of a program's own; a thread at which signals arrive waits by
///                 wait_outside()
bool wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected,
             std::int64_t deadline_ns = no_deadline) noexcept;
/// Whether a deadline that is some 100 us away is kept about so, not rounded up to milliseconds.
bool waits_are_short() noexcept;
/// wait_on() for a thread outside the runtime, at which signals of the process arrive: their
/// handlers run meanwhile.
void wait_outside(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
/// Wakes at most one thread in wait_on(word).
///
/// pre: none. The word's owner may be gone already, and its memory given back: whoever waits there
///      for something else returns early
void wake_one(std::atomic<std::uint32_t>& word) noexcept;
/// Wakes all threads in wait_on(word). pre: as wake_one()
void wake_all(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace tandem::inline v0::platform
