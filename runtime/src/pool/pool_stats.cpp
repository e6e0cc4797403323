// pool_stats.cpp: numbers, and text for people.
// SPDX-License-Identifier: MIT
#include "pool/pool_stats.hpp"

#include <algorithm>
#include <cstddef>

#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0::detail {

worker_pool_stats stats_of(const worker_pool::impl& pool) noexcept {
  worker_pool_stats out;
  // A loop is driven by a thread that is not the pool's.
  out.min_threads = pool.loop == nullptr ? pool.limits.core() : 0;
  out.max_threads = pool.loop == nullptr ? pool.workers.most() : 0;
  out.threads = pool.threads.threads();
  const pool_control* const control = pool.control.get();
  out.goal = pool.goal();
  out.blocked = control != nullptr ? control->blocked() : 0;
  const busy_word::counts seen = pool.word.about_now();
  const auto awake = static_cast<unsigned>(busy_word::busy(seen, pool.word.target()));
  out.idle = out.threads - std::min(out.threads, awake);
  out.searching = seen.searching();
  out.processing = out.threads - std::min(out.threads, out.idle + out.searching);
  out.injection = pool.order.injection().size();
  out.submissions = pool.submissions.size();
  out.lanes = pool.order.in_lanes();
  out.queued = out.injection + out.submissions + out.lanes;
  for (const worker& each : pool.workers.all()) {
    out.items += each.items.read();
    out.tasks += each.tasks.read();
    out.steals += each.steals.read();
    out.parks += each.parks.read();
  }
  out.wakes = pool.waking.wakes();
  out.waiting_submitters = pool.submissions.waiting();
  out.rejections = pool.saturated.rejections();
  out.injected = pool.order.injection().pushed();
  for (std::size_t i = 0; i < out.injections.size(); ++i) {
    out.injections[i] = pool.threads.started_for(i);
  }
  out.retirements = pool.threads.retirements();
  return out;
}

std::string description_of(const worker_pool::impl& pool) {
  const worker_pool_stats now = stats_of(pool);
  std::string text =
      "pool " + pool.name + ": " + std::to_string(now.threads) + " threads (" +
      std::to_string(now.min_threads) + " to " + std::to_string(now.max_threads) + ", goal " +
      std::to_string(now.goal) + "), " + std::to_string(now.idle) + " idle, " +
      std::to_string(now.searching) + " searching, " + std::to_string(now.blocked) + " blocked, " +
      std::to_string(pool.order.injection().size()) + " in the injection queue, " +
      std::to_string(now.submissions) + " submitted, " + std::to_string(now.waiting_submitters) +
      " wait to submit; " + to_string(pool.life.state()) + "\n";
  for (const worker& each : pool.workers) {
    if (!each.started.load(std::memory_order_relaxed)) continue;
    const bool parked = each.is_parked();
    const bool blocks = each.blocks.load(std::memory_order_relaxed);
    text += "  worker " + std::to_string(each.number) +
            (parked ? " parked" : (blocks ? " blocked" : " running")) + ", forks " +
            std::to_string(each.forks.size()) + ", fifo " + std::to_string(each.fifo.size()) +
            (each.fifo.has_next() ? "+1" : "") + ", items " + std::to_string(each.items.read()) +
            ", steals " + std::to_string(each.steals.read()) + ", parks " +
            std::to_string(each.parks.read()) + "\n";
  }
  return text + pool.answers.describe_tasks();
}

}  // namespace tandem::inline v0::detail
