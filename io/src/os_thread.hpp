// os_thread.hpp: threads of the completion pool, and what each of them knows of itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <thread>

namespace tandem::inline v0::io {

/// Starts a thread in which asynchronous signals and SIGPIPE are blocked from birth (D17).
/// @throws  std::system_error
std::thread start_os_thread(const char* name, std::function<void()> body);

/// The completion_thread::impl of the calling thread, as a plain pointer; null on others.
void* current_thread_slot() noexcept;
void set_current_thread_slot(void* self) noexcept;

}  // namespace tandem::inline v0::io
