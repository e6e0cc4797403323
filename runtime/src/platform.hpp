// platform.hpp: THE contract between the runtime and the operating system. One folder per platform.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace tandem::inline v0::platform {

/// No deadline: wait for ever.
inline constexpr std::int64_t no_deadline = INT64_MAX;

/// Blocks while `word == expected`, until woken or until the steady clock reaches `deadline_ns`.
/// Returns early at will. @returns false if the deadline has passed.
bool wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected,
             std::int64_t deadline_ns = no_deadline) noexcept;
/// wait_on() for a thread outside the runtime, at which signals of the process arrive.
void wait_outside(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
/// Wakes at most one thread in wait_on(word). The word's owner may be gone already.
void wake_one(std::atomic<std::uint32_t>& word) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;

/// CPUs of the affinity mask, limited by the quota of the control group; at least 1.
unsigned usable_cpus() noexcept;

/// Starts a thread in which asynchronous signals and SIGPIPE are blocked from birth (D17).
/// @throws  std::system_error
std::thread start_thread(const char* name, std::function<void()> body);

/// A short pause inside a spin loop.
void spin_pause() noexcept;

}  // namespace tandem::inline v0::platform
