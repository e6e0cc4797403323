// thread_record.hpp: what a thread has of the runtime, from its first look to its end.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include <tandem/detail/thread_context.hpp>

#include "platform/threads.hpp"

namespace tandem::inline v0::platform {

/// Lies on the heap of the process, and its address in a slot of TlsAlloc.
///
/// A slot of FlsAlloc holds it, too, whose function Windows calls at the end of a thread: it calls
/// what at_thread_exit() has noted, then frees the record. What runs on the thread after that, such
/// as the destructor of a thread_local, gets a new one.
struct thread_record {
  explicit thread_record(void** no_magazine) noexcept : context(no_magazine) {}

  detail::thread_context context;
  std::array<thread_exit_function, 2> at_exit{};  // by exit_step
};

/// @returns  the calling thread's
thread_record& this_threads_record() noexcept;

}  // namespace tandem::inline v0::platform
