// exception_hook.hpp: who wants to hear of exceptions that leave coroutines.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class promise_base;

/// Null: nobody. Defined where coroutines end by exceptions, in fork. Called where the exception is current, before the frame goes.
extern constinit std::atomic<void (*)(promise_base&) noexcept> exception_hook;

}  // namespace tandem::inline v0::detail
