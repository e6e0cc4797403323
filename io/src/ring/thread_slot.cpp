// thread_slot.cpp: the thread-local of the completion pool.
// SPDX-License-Identifier: MIT
#include "ring/thread_slot.hpp"

#include <tandem/config.hpp>

namespace tandem::inline v0::io {

namespace {
constinit thread_local void* slot = nullptr;
}

// Not inline: a coroutine may go on on another thread, where the address of the thread before, kept
// by the compiler, would be wrong.
TANDEM_NOINLINE void* current_thread_slot() noexcept { return slot; }
TANDEM_NOINLINE void set_current_thread_slot(void* self) noexcept { slot = self; }

}  // namespace tandem::inline v0::io
