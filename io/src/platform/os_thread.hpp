// os_thread.hpp: threads of the completion pool, and what each of them knows of itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace tandem::inline v0::io {

/// Starts a thread in which asynchronous signals and SIGPIPE are blocked from birth.
/// @throws  std::system_error
std::thread start_os_thread(const char* name, std::function<void()> body);

/// As the system numbers it, and debuggers name it.
int number_of_this_thread() noexcept;
/// A number for cpu_time_of().
int cpu_clock_of_this_thread() noexcept;
/// What that thread has used so far; 0 when it has ended.
std::chrono::nanoseconds cpu_time_of(int cpu_clock) noexcept;

/// Whether that thread waits for something; false if it runs, or waits for a CPU.
bool is_blocked(int number) noexcept;

/// The completion_engine of the calling thread, as a plain pointer; null on others.
void* current_thread_slot() noexcept;
void set_current_thread_slot(void* self) noexcept;

}  // namespace tandem::inline v0::io
