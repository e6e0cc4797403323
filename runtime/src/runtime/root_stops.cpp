// root_stops.cpp: the stop of all roots.
// SPDX-License-Identifier: MIT
#include "runtime/root_stops.hpp"

namespace tandem::inline v0::detail {

void root_stops::request_stop(stop_reason reason) noexcept {
  for (shard& each : shards_) each.stop.request_stop(reason);
}

}  // namespace tandem::inline v0::detail
