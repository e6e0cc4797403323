// root_stops.hpp: the stop states that roots without a parent hang below.
// SPDX-License-Identifier: MIT
//
// One for each shard (thread_shard.hpp), since every such root takes its lock once when it begins
// and once when it ends.
#pragma once

#include <array>

#include <tandem/stop.hpp>

#include "runtime/thread_shard.hpp"

namespace tandem::inline v0::detail {

/// Any thread.
class root_stops {
 public:
  root_stops() noexcept = default;
  root_stops(const root_stops&) = delete;
  root_stops& operator=(const root_stops&) = delete;

  /// stopping/late_root. What a root hangs below that begins on the calling thread.
  stop_state& of_this_thread() noexcept { return shards_[thread_shard()].stop; }
  /// Stops all roots that hang here, and all that come later. Only the first reason counts.
  void request_stop(stop_reason reason) noexcept;
  /// For reports: calls `look` with each of the states.
  template <class Look>
  void for_each(Look look) {
    for (shard& each : shards_) look(each.stop);
  }
  template <class Look>
  void for_each(Look look) const {
    for (const shard& each : shards_) look(each.stop);
  }

 private:
  struct alignas(64) shard {
    stop_state stop;
  };
  std::array<shard, thread_shards> shards_;
};

}  // namespace tandem::inline v0::detail
