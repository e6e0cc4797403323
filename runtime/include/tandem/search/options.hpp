// options.hpp: limits, width and progress of a search.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace tandem::inline v0 {

/// A look at a search that goes on. The numbers are a little behind: workers count in batches.
class search_progress {
 public:
  search_progress() = default;
  search_progress(std::uint64_t visited, std::uint64_t reached, std::chrono::nanoseconds since)
      : nodes(visited), depth(reached), elapsed(since) {}

  std::uint64_t nodes = 0;              ///< positions visited so far
  std::uint64_t depth = 0;              ///< level of a breadth-first search, else 0
  std::chrono::nanoseconds elapsed{0};  ///< since the search began
};

/// How far, how wide and how long a search may go. Members may be set directly or by the setters,
/// which can be chained: `search_options().with_node_limit(1'000'000).with_time_limit(2s)`.
class search_options {
 public:
  /// Called now and then, never twice at the same time, on whichever thread searches; if it throws,
  /// the search fails with that exception.
  using progress_function = std::function<void(const search_progress&)>;

  search_options() = default;

  search_options& with_node_limit(std::uint64_t nodes) noexcept {
    node_limit = nodes;
    return *this;
  }
  search_options& with_time_limit(std::chrono::nanoseconds limit) noexcept {
    time_limit = limit;
    return *this;
  }
  search_options& with_parallelism(unsigned tasks) noexcept {
    parallelism = tasks;
    return *this;
  }
  search_options& with_progress(progress_function callback, std::chrono::nanoseconds interval =
                                                                std::chrono::milliseconds(100)) {
    progress = std::move(callback);
    progress_interval = interval;
    return *this;
  }

  /// Positions to visit at most; 0 is no limit. sequential_search keeps to it exactly, the others
  /// look at the sum now and then and may pass it by some hundreds of positions per worker.
  std::uint64_t node_limit = 0;
  /// Time to search at most; 0 is no limit.
  std::chrono::nanoseconds time_limit{0};
  /// Tasks that search at the same time; 0 is one per worker of the runtime.
  unsigned parallelism = 0;
  progress_function progress;
  std::chrono::nanoseconds progress_interval = std::chrono::milliseconds(100);
};

}  // namespace tandem::inline v0
