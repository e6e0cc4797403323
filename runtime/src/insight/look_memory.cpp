// look_memory.cpp: since when waits and segments last, as far as looks have seen them.
// SPDX-License-Identifier: MIT
#include "insight/look_memory.hpp"

#include <utility>

namespace tandem::inline v0::detail {

std::int64_t look_memory::wait(const void* leaf, bool known) {
  std::int64_t since = -1;
  if (known) {
    const auto found = waits_.find(leaf);
    since = found != waits_.end() ? found->second : last_ns_;
  }
  if (new_waits_.size() < most_waits) new_waits_.emplace(leaf, since >= 0 ? since : now_ns_);
  return since;
}

std::int64_t look_memory::segment(const thread_note& of) {
  std::int64_t since = -1;
  const auto found = segments_.find(of.thread_id);
  if (found != segments_.end() && found->second.env == of.env &&
      found->second.segments == of.segments) {
    since = found->second.since_ns;
  }
  new_segments_.insert_or_assign(of.thread_id,
                                 segment_seen{of.env, of.segments, since >= 0 ? since : now_ns_});
  return since;
}

look_memory::restless look_memory::rests(const thread_note& of) {
  restless out;
  if (of.rests == thread_note::does_not_count) return out;
  const auto found = rests_.find(of.thread_id);
  if (found != rests_.end() && found->second.rests == of.rests && of.rests % 2 == 0) {
    out.since_ns = found->second.since_ns;
    out.segments = of.segments - found->second.segments;
  }
  new_rests_.insert_or_assign(
      of.thread_id, rests_seen{of.rests, of.segments, out.since_ns >= 0 ? out.since_ns : now_ns_});
  return out;
}

std::int64_t look_memory::stopped(std::uint64_t task) {
  const auto found = stops_.find(task);
  const std::int64_t since = found != stops_.end() ? found->second : -1;
  if (new_stops_.size() < most_waits) new_stops_.emplace(task, since >= 0 ? since : now_ns_);
  return since;
}

void look_memory::end() {
  stops_ = std::exchange(new_stops_, {});
  waits_ = std::exchange(new_waits_, {});
  segments_ = std::exchange(new_segments_, {});
  rests_ = std::exchange(new_rests_, {});
  last_ns_ = now_ns_;
}

}  // namespace tandem::inline v0::detail
