// starvation_watch.cpp: spells of starvation, and the age of what waits.
// SPDX-License-Identifier: MIT
#include "starvation/starvation_watch.hpp"

#include <exception>

namespace tandem::inline v0::detail {

void starvation_watch::begin(std::chrono::nanoseconds now) noexcept {
  start_ = starvation_look();
  start_.now = now;
  last_look_ = now;
  lasts_ = oldest_ = {};
  runs_.clear();
  load_count_ = 0;
}

void starvation_watch::look(const starvation_look& seen,
                            std::span<const std::uint64_t> begun) noexcept {
  note_load(seen);
  note_runs(seen.now, begun);
  last_look_ = seen.now;
  const std::uint64_t items = seen.dequeued - start_.dequeued;
  const unsigned come =
      seen.processing > start_.processing ? seen.processing - start_.processing : 0;
  if (seen.waiting != 0 && start_.waiting != 0 && items <= come) {
    lasts_ = seen.now - start_.now;
    return;
  }
  start_ = seen;
  lasts_ = {};
}

void starvation_watch::note_runs(std::chrono::nanoseconds now,
                                 std::span<const std::uint64_t> begun) noexcept {
  try {
    runs_.resize(begun.size(), run{0, now});
  } catch (const std::exception&) {
    return runs_.clear();  // no memory: nobody is said to be stuck
  }
  for (std::size_t worker = 0; worker < begun.size(); ++worker) {
    run& last = runs_[worker];
    if (last.begun == begun[worker]) continue;
    last.begun = begun[worker];
    last.since = now;
  }
}

void starvation_watch::note_load(const starvation_look& seen) noexcept {
  if (seen.waiting == 0) {
    load_count_ = 0;
    oldest_ = {};
    return;
  }
  // What had come by then may all be taken.
  while (load_count_ != 0 && loads_[first_load_].sum <= seen.dequeued) {
    first_load_ = (first_load_ + 1) % loads_.size();
    --load_count_;
  }
  if (load_count_ < loads_.size()) {
    load& last = loads_[(first_load_ + load_count_++) % loads_.size()];
    last.at = seen.now;
    last.sum = seen.dequeued + seen.waiting;
  }
  oldest_ = seen.now - loads_[first_load_].at;
}

}  // namespace tandem::inline v0::detail
