// pool_stats.cpp: what a pool says about itself.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>

#include "pool/worker_pool_impl.hpp"
#include "runtime/runtime_impl.hpp"
#include "task/live_tasks.hpp"

namespace tandem::inline v0 {

std::string runtime::impl::describe_tasks() const {
  const std::size_t count = live();
  if (count == 0) return "";
  detail::live_tasks tasks;
  // stopping/late_root. Whoever has not begun is not there.
  for (const root_shard& each : roots_) tasks.add_below(each.stop);
  return tasks.text(count);
}

int worker_pool::impl::busy() const noexcept {
  // Two words. The target is raised before the room and lowered after it (crew/goal): with the same
  // target before and after, nobody is missed.
  int target = target_.load(std::memory_order_seq_cst);
  while (true) {
    const std::uint64_t state = state_.load(std::memory_order_seq_cst);
    const int again = target_.load(std::memory_order_seq_cst);
    if (again == target) return std::max(0, target - room_of(state));
    target = again;
  }
}

unsigned worker_pool::impl::goal() const noexcept {
  const detail::pool_control* const control = this->control();
  if (control != nullptr && growth() == growth_order::demand) return control->goal();
  // Without one that decides it is what the order of growth makes it (changes/control).
  return static_cast<unsigned>(std::max(0, target_.load(std::memory_order_relaxed)));
}

std::uint64_t worker_pool::impl::items_taken() const noexcept {
  std::uint64_t sum = 0;
  for (const worker& each : workers_.all()) sum += each.items.read();
  return sum;
}

std::uint64_t worker_pool::impl::tasks_ended() const noexcept {
  std::uint64_t sum = 0;
  for (const worker& each : workers_.all()) sum += each.tasks.read();
  return sum;
}

std::size_t worker_pool::impl::queued() const noexcept {
  std::size_t sum = injection_.size() + submissions_.size();
  for (const worker& each : workers_) {
    sum += each.fifo.size() + (each.fifo.has_next() ? 1 : 0) + each.forks.size();
  }
  return sum;
}

worker_pool_stats worker_pool::impl::stats() const noexcept {
  worker_pool_stats out;
  // A loop is driven by a thread that is not the pool's.
  out.min_threads = loop_ == nullptr ? size() : 0;
  out.max_threads = loop_ == nullptr ? workers_.most() : 0;
  out.threads = threads_.load(std::memory_order_relaxed);
  const detail::pool_control* const control = this->control();
  out.goal = goal();
  out.blocked = control != nullptr ? control->blocked() : 0;
  const std::uint64_t state = state_.load(std::memory_order_relaxed);
  const auto awake =
      static_cast<unsigned>(std::max(0, target_.load(std::memory_order_relaxed) - room_of(state)));
  out.idle = out.threads - std::min(out.threads, awake);
  out.searching = static_cast<unsigned>(searching_of(state));
  out.processing = out.threads - std::min(out.threads, out.idle + out.searching);
  out.injection = injection_.size();
  out.submissions = submissions_.size();
  for (const worker& each : workers_) {
    out.lanes += each.fifo.size() + (each.fifo.has_next() ? 1 : 0) + each.forks.size();
  }
  out.queued = out.injection + out.submissions + out.lanes;
  for (const worker& each : workers_.all()) {
    out.items += each.items.read();
    out.tasks += each.tasks.read();
    out.steals += each.steals.read();
    out.parks += each.parks.read();
  }
  out.wakes = wakes_.load(std::memory_order_relaxed);
  out.waiting_submitters = submissions_.waiting();
  out.rejections = rejections_.load(std::memory_order_relaxed);
  out.injected = injection_.pushed();
  for (std::size_t i = 0; i < injections_.size(); ++i) {
    out.injections[i] = injections_[i].load(std::memory_order_relaxed);
  }
  out.retirements = retirements_.load(std::memory_order_relaxed);
  return out;
}

std::string worker_pool::impl::describe() const {
  const worker_pool_stats now = stats();
  std::string text =
      "pool " + name_ + ": " + std::to_string(now.threads) + " threads (" +
      std::to_string(now.min_threads) + " to " + std::to_string(now.max_threads) + ", goal " +
      std::to_string(now.goal) + "), " + std::to_string(now.idle) + " idle, " +
      std::to_string(now.searching) + " searching, " + std::to_string(now.blocked) + " blocked, " +
      std::to_string(injection_.size()) + " in the injection queue, " +
      std::to_string(now.submissions) + " submitted, " + std::to_string(now.waiting_submitters) +
      " wait to submit; " + to_string(life_.state()) + "\n";
  for (const worker& each : workers_) {
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
  return text + owner_.implementation().describe_tasks();
}

}  // namespace tandem::inline v0
