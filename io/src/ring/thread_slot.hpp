// thread_slot.hpp: whose thread this is: a pointer that each engine sets on its own.
// SPDX-License-Identifier: MIT
//
// A plain one, since this room knows nothing of engines: it compares, and the engine reads its own.
#pragma once

namespace tandem::inline v0::io {

/// What the engine of the calling thread has set; null on threads without one.
void* current_thread_slot() noexcept;
/// pre: the thread that enters `self`'s loop, or (null) leaves it
void set_current_thread_slot(void* self) noexcept;

}  // namespace tandem::inline v0::io
