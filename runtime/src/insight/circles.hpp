// circles.hpp: tasks that wait for each other.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "insight/snapshot.hpp"

namespace tandem::inline v0::detail {

/// Each circle that is sure: all of its waits were there at the look before, and nothing but the
/// next one ends any of them. A task that waits for itself is a circle of one.
///
/// @returns  of each, one edge after the other; the task with the smallest id first
std::vector<std::vector<seen_edge>> circles_of(const snapshot& in);

}  // namespace tandem::inline v0::detail
