// line_place.hpp: the place of somebody who waits for a place in a queue, among the others.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class waiter_line;

/// The line's, under the lock of its queue.
class line_place {
  friend class waiter_line;
  line_place* previous_ = nullptr;
  line_place* next_ = nullptr;
};

}  // namespace tandem::inline v0::detail
