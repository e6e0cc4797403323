// pool_change.cpp: a change is checked as a whole before anything is done.
// SPDX-License-Identifier: MIT
#include <tandem/pool_change.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace tandem::inline v0 {

pool_change::pool_change() = default;

bool pool_change::is_about_threads() const noexcept {
  return min_threads || max_threads || keep_alive || allow_core_timeout || growth || adaptive ||
         starvation_threshold || on_starvation || log_starvation || threads;
}

pool_options pool_change::applied_to(pool_options now) const {
  if (min_threads) now.min_threads = *min_threads;
  if (max_threads) now.max_threads = *max_threads;
  if (keep_alive) now.keep_alive = *keep_alive;
  if (allow_core_timeout) now.allow_core_timeout = *allow_core_timeout;
  if (growth) now.growth = *growth;
  if (adaptive) now.adaptive = *adaptive;
  if (when_saturated) {
    now.submissions.when_saturated = *when_saturated;
    if (*when_saturated != saturation_policy::handler) now.submissions.on_rejected = nullptr;
  }
  if (on_rejected) now.submissions.on_rejected = *on_rejected;
  if (starvation_threshold) now.starvation_threshold = *starvation_threshold;
  if (on_starvation) now.on_starvation = *on_starvation;
  if (log_starvation) now.log_starvation = *log_starvation;
  if (threads) now.threads = *threads;
  if (on_terminated) now.on_terminated = *on_terminated;
  if (timed_tasks_one_in) now.timed_tasks_one_in = *timed_tasks_one_in;
  if (count_tasks_by_name) now.count_tasks_by_name = *count_tasks_by_name;

  if (min_threads && *min_threads == 0) {
    throw std::invalid_argument(
        "worker_pool::reconfigure: min_threads is 0: a pool that has threads keeps at least 1; "
        "allow_core_timeout lets that one end, too");
  }
  if (max_threads && now.max_threads < now.min_threads) {
    throw std::invalid_argument("worker_pool::reconfigure: max_threads is " +
                                std::to_string(now.max_threads) + ", below min_threads (" +
                                std::to_string(now.min_threads) + ")");
  }
  if (min_threads && now.min_threads > now.max_threads) {
    throw std::invalid_argument("worker_pool::reconfigure: min_threads is " +
                                std::to_string(now.min_threads) + ", above max_threads (" +
                                std::to_string(now.max_threads) + "): raise both in one change");
  }
  now.validate();
  return now;
}

}  // namespace tandem::inline v0
