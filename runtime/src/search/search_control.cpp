// search_control.cpp: the end, the limits and the progress of a search.
// SPDX-License-Identifier: MIT
#include <tandem/detail/search/search_control.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include <tandem/environment.hpp>
#include <tandem/errors.hpp>
#include <tandem/runtime.hpp>
#include <tandem/stop.hpp>
#include <tandem/worker_pool.hpp>

namespace tandem::inline v0::detail {

namespace {

using clock = search_pacer::clock;

// With a node limit checkpoints come more often, so that it is passed by little.
constexpr std::uint32_t longest_stride = 4096;
constexpr std::uint32_t longest_limited_stride = 64;
constexpr unsigned most_tasks = 1024;

clock::time_point later(clock::time_point from, std::chrono::nanoseconds by) noexcept {
  const auto left = clock::time_point::max() - from;
  return by < left ? from + by : clock::time_point::max();
}

}  // namespace

search_control::search_control(const search_options& options)
    : options_(options),
      began_(clock::now()),
      deadline_(options.time_limit ? later(began_, *options.time_limit) : clock::time_point::max()),
      next_report_(later(began_, options.progress_interval).time_since_epoch().count()),
      last_report_(began_) {
  options.validate();
}

search_control::~search_control() = default;

bool search_control::leave(state next) noexcept {
  state expected = state::running;
  // searching/end. Relaxed: the join orders what the winner writes (searching/conclude).
  return state_.compare_exchange_strong(expected, next, std::memory_order_relaxed);
}

bool search_control::finish(search_outcome outcome) noexcept {
  if (!leave(state::finished)) return false;
  // searching/winner
  outcome_ = outcome;
  return true;
}

bool search_control::fail(std::exception_ptr error) noexcept {
  if (!leave(state::failed)) return false;
  error_ = std::move(error);
  return true;
}

bool search_control::cancel() noexcept { return leave(state::cancelled); }

bool search_control::checkpoint(search_pacer& pacer, std::uint64_t visited, std::uint32_t steps,
                                std::uint64_t depth) {
  const clock::time_point now = clock::now();
  // searching/limit
  const std::uint64_t sum = visited_.fetch_add(visited, std::memory_order_relaxed) + visited;
  pacer.checked(now, steps, options_.node_limit ? longest_limited_stride : longest_stride);
  if (options_.node_limit && sum > *options_.node_limit) finish(search_outcome::node_limit);
  if (now >= deadline_) finish(search_outcome::time_limit);
  if (stop_requested() || options_.stop_token.stop_requested()) cancel();
  if (!running()) return false;
  if (options_.progress &&
      now.time_since_epoch().count() >= next_report_.load(std::memory_order_relaxed)) {
    report(now, depth);
  }
  return true;
}

void search_control::report(clock::time_point now, std::uint64_t depth) {
  std::unique_lock lock(report_lock_, std::try_to_lock);  // searching/report
  if (!lock || now.time_since_epoch().count() < next_report_.load(std::memory_order_relaxed))
    return;
  search_progress progress(visited(), depth, now - began_);
  const double since = std::chrono::duration<double>(now - last_report_).count();
  progress.nodes_per_second =
      since > 0 ? static_cast<double>(progress.nodes - reported_) / since : 0;
  progress.memory_bytes = memory_.load(std::memory_order_relaxed);
  last_report_ = now;
  reported_ = progress.nodes;
  options_.progress(progress);
  const clock::time_point next = later(clock::now(), options_.progress_interval);
  next_report_.store(next.time_since_epoch().count(), std::memory_order_relaxed);
}

void search_control::take_memory(std::size_t bytes) {
  // searching/memory
  const std::size_t sum = memory_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (options_.memory_limit && sum > *options_.memory_limit) {
    give_memory_back(bytes);
    finish(search_outcome::memory_limit);
    throw std::bad_alloc();
  }
  std::size_t most = most_memory_.load(std::memory_order_relaxed);
  while (most < sum && !most_memory_.compare_exchange_weak(most, sum, std::memory_order_relaxed)) {}
}

void* search_control::take_memory_for_good(std::size_t bytes, std::size_t alignment) {
  take_memory(bytes);
  try {
    return arena_.take(bytes, alignment);
  } catch (...) {
    give_memory_back(bytes);
    throw;
  }
}

void search_control::conclude(search_summary& summary) {
  summary.outcome = how_it_ended();
  summary.nodes = visited();
  summary.elapsed = clock::now() - began_;
  summary.memory_bytes = most_memory_.load(std::memory_order_relaxed);
  switch (summary.outcome) {
    case search_outcome::node_limit: summary.limit = *options_.node_limit; break;
    case search_outcome::memory_limit: summary.limit = *options_.memory_limit; break;
    case search_outcome::time_limit:
      summary.limit = static_cast<std::uint64_t>(options_.time_limit->count());
      break;
    case search_outcome::solved:
    case search_outcome::exhausted: break;
  }
}

search_outcome search_control::how_it_ended() {
  switch (state_.load(std::memory_order_relaxed)) {  // searching/conclude
    case state::failed: std::rethrow_exception(error_);
    case state::running:  // a task was dropped before it could end the search
    case state::cancelled: break;
    case state::finished: return outcome_;
  }
  if (options_.stop_token.stop_requested()) throw operation_cancelled(stop_reason::user);
  const environment* here = current_environment();
  const stop_reason reason = here != nullptr ? here->stop().reason() : stop_reason::none;
  throw operation_cancelled(reason != stop_reason::none ? reason : stop_reason::shutdown);
}

unsigned search_parallelism(const search_options& options) noexcept {
  if (options.parallelism != 0) return std::min(options.parallelism, most_tasks);
  if (options.on != nullptr) {
    const auto* pool = dynamic_cast<const worker_pool*>(options.on);
    return pool != nullptr ? pool->size() : 1;
  }
  const environment* here = current_environment();
  return here != nullptr && here->runtime() != nullptr ? here->runtime()->workers().size() : 1;
}

executor& search_executor(const search_options& options) {
  if (options.on != nullptr) return *options.on;
  const environment* here = current_environment();
  if (here == nullptr || here->runtime() == nullptr) {
    throw std::logic_error(
        "tandem search: no runtime here; await the search from a task of one, or give it an "
        "executor");
  }
  return here->runtime()->workers();
}

}  // namespace tandem::inline v0::detail
