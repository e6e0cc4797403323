// idle_threads.hpp: threads of services that have nothing to do any more.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>
#include <tandem/export.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

/// deadlocks/idle. A thread that runs tasks has had nothing to do for a while, and nothing of its
/// own is out. Any thread.
TANDEM_API void threads_are_idle(tandem::runtime& owner) noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
