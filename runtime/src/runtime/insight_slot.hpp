// insight_slot.hpp: where a runtime keeps what looks at it, which stands above.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

class insight;

struct insight_deleter {
  void operator()(insight* ended) const noexcept;
};
using insight_slot = std::unique_ptr<insight, insight_deleter>;

/// Looks at nothing yet. Defined in insight.
insight_slot make_insight(tandem::runtime& owner);

}  // namespace detail
}  // namespace tandem::inline v0
