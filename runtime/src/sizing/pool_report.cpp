// pool_report.cpp: finds out, and says, that work waits and nobody takes it.
// SPDX-License-Identifier: MIT
#include <tandem/starvation_report.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>

#include "pool/worker_pool_impl.hpp"
#include "runtime/runtime_impl.hpp"
#include "sizing/pool_control.hpp"

namespace tandem::inline v0 {

namespace {

std::string seconds(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>(time).count());
  return text;
}

}  // namespace

std::string to_string(const starvation_report& report) {
  const auto all = report.workers.size();
  const auto since_it_began = static_cast<std::size_t>(
      std::count_if(report.workers.begin(), report.workers.end(),
                    [&](const stuck_worker& each) { return each.lasts >= report.lasts; }));
  std::string text =
      "tandem: pool " + report.pool + ": " + std::to_string(all) + " workers blocked";
  if (since_it_began != all) text += ", " + std::to_string(since_it_began) + " of them";
  text += " for " + seconds(report.lasts) + "; " + std::to_string(report.waiting) +
          (report.waiting == 1 ? " item waits" : " items wait") + "; oldest " +
          seconds(report.oldest) + "; " + std::to_string(report.threads) + " of at most " +
          std::to_string(report.max_threads) + " threads; CPU " +
          std::to_string(static_cast<int>(report.cpu * 100 + 0.5)) + " %\n";
  for (const stuck_worker& each : report.workers) {
    text += "  worker " + std::to_string(each.number) + ", for " + seconds(each.lasts) +
            (each.in_blocking_region ? ", in a blocking_region" : "");
    if (each.spawned_at.line() == 0) {
      text += ": no task known: it has just come, or runs what was posted by hand";
    } else {
      text += ": a task spawned at " + std::string(each.spawned_at.file_name()) + ":" +
              std::to_string(each.spawned_at.line()) + " in " + each.spawned_at.function_name();
    }
    text += "\n";
  }
  return text;
}

namespace detail {

void pool_control::watch(gate_reading& reading) noexcept {
  try {
    begun_.clear();
    for (const worker& each : pool_.workers().all()) {
      begun_.push_back(each.progress());
      // A next slot is its worker's own, and nobody was woken for it. Where the worker has been
      // inside one segment since the last look, what lies there waits as all else does, and a
      // search may take it.
      if (each.fifo.has_next() && starvation_.has_stayed(each.number, begun_.back())) {
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
  starvation_.look(seen, begun_);
}

bool pool_control::report_is_due(clock::time_point now) noexcept {
  constexpr int rarely = 5;
  const clock::duration threshold = options_->starvation_threshold;
  if (threshold <= clock::duration::zero() || starvation_.lasts() < threshold) return false;
  if (reported_at_ != clock::time_point() && now - reported_at_ < rarely * threshold) return false;
  reported_at_ = now;
  return true;
}

starvation_report pool_control::report() const {
  starvation_report made;
  made.pool = pool_.name();
  made.lasts = starvation_.lasts();
  made.oldest = starvation_.oldest();
  made.waiting = pool_.queued();
  made.threads = pool_.threads();
  made.max_threads = options_->most_threads();
  made.cpu = cpu_.load(std::memory_order_relaxed);
  for (const worker& each : pool_.workers()) {
    // Relaxed: about now; nobody has taken anything for seconds.
    if (!each.started.load(std::memory_order_relaxed) || each.is_parked()) continue;
    made.workers.emplace_back(each.number, each.where.load(std::memory_order_relaxed),
                              each.blocks.load(std::memory_order_relaxed),
                              starvation_.stuck_for(each.number));
  }
  return made;
}

void pool_control::tell(const pool_options& options,
                        const starvation_report& report) const noexcept {
  try {
    if (options.log_starvation) std::fputs(to_string(report).c_str(), stderr);
    if (options.on_starvation) options.on_starvation(report);
  } catch (...) {
    pool_.owner().implementation().suppressed(std::current_exception());
  }
}

}  // namespace detail
}  // namespace tandem::inline v0
