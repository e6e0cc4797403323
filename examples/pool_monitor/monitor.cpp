// monitor.cpp: the watching thread.
// SPDX-License-Identifier: MIT
#include "monitor.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace monitor {

namespace {
constexpr auto period = std::chrono::milliseconds(100);
}

pool_watch::pool_watch(tandem::worker_pool& pool, const progress& items, decision_handler told)
    : pool_(pool),
      items_(items),
      told_(std::move(told)),
      start_(std::chrono::steady_clock::now()),
      thread_([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          look();
          std::this_thread::sleep_for(period);
        }
        look();
      }) {}

void pool_watch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  // A thread leaves the count a moment before its retirement is among the decisions.
  for (int looks = 0; looks < 20 && came_and_stayed() != samples_.back().threads; ++looks) {
    std::this_thread::sleep_for(period / 2);
    look();
  }
  const tandem::worker_pool_stats last = pool_.stats();
  came_ = std::accumulate(last.injections.begin(), last.injections.end(), std::uint64_t{0});
  left_ = last.retirements;
}

std::size_t pool_watch::came_and_stayed() const {
  const auto count = [this](tandem::pool_action what) {
    return std::count_if(decisions_.begin(), decisions_.end(),
                         [what](const auto& each) { return each.action == what; });
  };
  return static_cast<std::size_t>(count(tandem::pool_action::inject) -
                                  count(tandem::pool_action::retire));
}

void pool_watch::look() {
  const tandem::worker_pool_stats now = pool_.stats();
  sample seen;
  seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  seen.threads = now.threads;
  seen.goal = now.goal;
  seen.idle = now.idle;
  seen.queued = now.queued;
  seen.completed = items_.completed.load(std::memory_order_relaxed);
  samples_.push_back(seen);
  // What is new comes behind what was there. Several may have been taken at one moment, so they are
  // compared whole. The pool keeps its last 200: after a burst of more than that the oldest are lost.
  const std::vector<tandem::pool_decision> all = pool_.decisions();
  auto fresh = all.begin();
  if (!decisions_.empty()) {
    for (auto each = all.end(); each != all.begin();) {
      --each;
      if (*each == decisions_.back()) {
        fresh = std::next(each);
        break;
      }
    }
  }
  for (; fresh != all.end(); ++fresh) {
    decisions_.push_back(*fresh);
    told_(*fresh);
  }
}

}  // namespace monitor
