// starvation_reporter.cpp: a look at each worker, and the report.
// SPDX-License-Identifier: MIT
#include "starvation/starvation_reporter.hpp"

#include <cstdio>
#include <exception>

#include "process/suppressed.hpp"

namespace tandem::inline v0::detail {

void starvation_reporter::look(gate_reading& reading) noexcept {
  try {
    begun_.clear();
    for (const worker& each : parts_.workers.all()) {
      begun_.push_back(each.progress());
      // A next slot is its worker's own, and nobody was woken for it. Where the worker has been
      // inside one segment since the last look, what lies there waits as all else does, and a
      // search may take it.
      if (each.fifo.has_next() && watch_.has_stayed(each.number, begun_.back())) {
        reading.work_requested = true;
      }
    }
  } catch (const std::exception&) {
    begun_.clear();  // no memory: nobody is said to be stuck
  }
  starvation_look seen;
  seen.now = reading.now;
  seen.dequeued = reading.dequeued;
  seen.waiting = reading.work_requested ? pool_.queued() : 0;
  seen.processing = reading.processing;
  watch_.look(seen, begun_);
}

bool starvation_reporter::is_due(const pool_options& options, clock::time_point now) noexcept {
  constexpr int rarely = 5;
  const clock::duration threshold = options.starvation_threshold;
  if (threshold <= clock::duration::zero() || watch_.lasts() < threshold) return false;
  if (reported_at_ != clock::time_point() && now - reported_at_ < rarely * threshold) return false;
  reported_at_ = now;
  return true;
}

starvation_report starvation_reporter::make(const pool_options& options, double cpu) const {
  starvation_report made;
  made.pool = parts_.name;
  made.lasts = watch_.lasts();
  made.oldest = watch_.oldest();
  made.waiting = pool_.queued();
  made.threads = parts_.threads.threads();
  made.max_threads = options.most_threads();
  made.cpu = cpu;
  for (const worker& each : parts_.workers) {
    // Relaxed: about now; nobody has taken anything for seconds.
    if (!each.started.load(std::memory_order_relaxed) || each.is_parked()) continue;
    made.workers.emplace_back(each.number, each.where.load(std::memory_order_relaxed),
                              each.blocks.load(std::memory_order_relaxed),
                              watch_.stuck_for(each.number));
  }
  return made;
}

void starvation_reporter::tell(const pool_options& options,
                               const starvation_report& report) const noexcept {
  try {
    if (options.log_starvation) std::fputs(to_string(report).c_str(), stderr);
    if (options.on_starvation) options.on_starvation(report);
  } catch (...) {
    suppressed(parts_.owner.options(), std::current_exception());
  }
}

}  // namespace tandem::inline v0::detail
