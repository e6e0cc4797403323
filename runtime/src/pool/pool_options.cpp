// pool_options.cpp: defaults, variables, limits.
// SPDX-License-Identifier: MIT
#include <tandem/pool_options.hpp>

#include <algorithm>
#include <stdexcept>

#include <tandem/cpu_count.hpp>
#include <tandem/detail/environment_options.hpp>

#include "process/enumerators.hpp"

namespace tandem::inline v0 {

namespace {

constexpr unsigned limit_of_threads = pool_options::most_possible;

}  // namespace

pool_options::pool_options()
    : min_threads(detail::count_from_environment(
          "TANDEM_MIN_THREADS",
          std::max(detail::count_from_environment("TANDEM_CPUS", 1), usual_workers()))),
      max_threads(detail::count_from_environment("TANDEM_MAX_THREADS",
                                                 std::max(limit_of_threads, min_threads))),
      adaptive(detail::switch_from_environment("TANDEM_ADAPTIVE", true)),
      name(detail::text_from_environment("TANDEM_NAME", "tandem")),
      timed_tasks_one_in(detail::count_from_environment("TANDEM_TIMED_TASKS_ONE_IN", 0)),
      count_tasks_by_name(detail::switch_from_environment("TANDEM_COUNT_TASKS_BY_NAME", false)) {
  if (detail::text_from_environment("TANDEM_MIN_THREADS", "").empty()) by_machine_ = min_threads;
}

void pool_options::follow_machine(unsigned cpus) noexcept {
  const unsigned most = std::max(1U, max_threads - 1);
  min_threads = by_machine_ = std::min(std::max(cpus, usual_workers() == 1 ? 1U : 2U), most);
}

bool pool_options::follows_machine() const noexcept {
  return follow_cpus && is_adaptive() && min_threads == by_machine_;
}

unsigned pool_options::most_threads() const noexcept {
  const unsigned least = std::max(1U, min_threads);
  const bool may_grow = adaptive.enabled || growth != growth_order::demand;
  return may_grow ? std::max(least, max_threads) : least;
}

bool pool_options::is_adaptive() const noexcept {
  return growth == growth_order::demand && most_threads() > std::max(1U, min_threads);
}

void pool_options::validate() const {
  if (growth > growth_order::threads_first) {
    throw std::invalid_argument("runtime_options::growth: " +
                                detail::no_enumerator(growth, "growth_order"));
  }
  if (min_threads > limit_of_threads) {
    throw std::invalid_argument("runtime_options::min_threads is " + std::to_string(min_threads) +
                                ": it has to be between 1 and 1024, or 0 for a runtime without "
                                "threads, which its owner drives");
  }
  if (max_threads == 0 || max_threads > limit_of_threads) {
    throw std::invalid_argument("runtime_options::max_threads is " + std::to_string(max_threads) +
                                ": it has to be between 1 and 1024");
  }
  if (keep_alive <= duration::zero() && allow_core_timeout) {
    throw std::invalid_argument(
        "runtime_options::allow_core_timeout needs a keep_alive above zero: else no thread would "
        "stay for its first task");
  }
  if (keep_alive <= duration::zero()) {
    throw std::invalid_argument(
        "runtime_options::keep_alive has to be above zero: it says after which idle time a thread "
        "ends");
  }
  if (starvation_threshold < duration::zero()) {
    throw std::invalid_argument(
        "runtime_options::starvation_threshold is below zero: 0 turns the reports off");
  }
  if (growth != growth_order::demand && max_threads < min_threads) {
    throw std::invalid_argument("runtime_options::max_threads is " + std::to_string(max_threads) +
                                ", below min_threads (" + std::to_string(min_threads) +
                                "): runtime_options::growth = " + to_string(growth) +
                                " goes from the one to the other");
  }
  if (min_threads == 0 && submissions.queue == queue_kind::rendezvous) {
    throw std::invalid_argument(
        "runtime_options::submissions.queue is a rendezvous, which needs workers that wait: with "
        "min_threads = 0 there are none");
  }
  if (hooks.one_in == 0) {
    throw std::invalid_argument(
        "runtime_options::hooks.one_in is 0: it has to be at least 1. Without any function set no "
        "task is told of");
  }
  submissions.validate();
  threads.validate();
  adaptive.validate();
}

}  // namespace tandem::inline v0
