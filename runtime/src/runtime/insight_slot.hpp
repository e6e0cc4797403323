// insight_slot.hpp: where a runtime keeps what looks at it, which stands above.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

class insight;

struct insight_deleter {
  void operator()(insight* ended) const noexcept;
};
using insight_slot = std::unique_ptr<insight, insight_deleter>;

// Defined in insight.

/// Looks at nothing yet.
insight_slot make_insight(tandem::runtime& owner);
/// The runtime is complete: waits for a signal, or looks by itself, if the options say so. @throws
/// std::system_error, std::bad_alloc
void begin_insight(insight& of);
/// deadlocks/idle. All workers have had nothing to do for a while. Any thread.
void workers_are_idle(insight& of) noexcept;
/// A line for each thing that its tasks wait for; "" if there is no memory for it.
std::string describe_waits(insight& of) noexcept;
/// The runtime is about to end: whatever looks at it by itself has ended.
void end_insight(insight& of) noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
