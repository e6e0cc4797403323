// os_thread.hpp: what the system knows of a thread: its number, the CPU time it has used, whether it runs.
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits. Nothing fails: what the system does not tell is zero, or false.
// (Threads are started by start_pool_thread(), <tandem/detail/pool_thread.hpp>.)
#pragma once

#include <chrono>

namespace tandem::inline v0::io::platform {

/// As the system numbers it, and debuggers name it. Another one may get it after the thread's end.
int number_of_this_thread() noexcept;
/// A number for cpu_time_of(), for any thread of this process; 0: the system has none.
int cpu_clock_of_this_thread() noexcept;
/// What that thread has used so far; 0 when it has ended. pre: of cpu_clock_of_this_thread(), or 0
std::chrono::nanoseconds cpu_time_of(int cpu_clock) noexcept;

/// Whether that thread waits for something; false if it runs, or waits for a CPU, or has ended.
/// Opens a file: not for a path that is taken often. pre: of number_of_this_thread()
bool is_blocked(int number) noexcept;

}  // namespace tandem::inline v0::io::platform
