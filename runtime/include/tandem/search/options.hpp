// options.hpp: limits, width and progress of a search.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class executor;

/// A look at a search that goes on. The numbers are a little behind: workers count in batches.
class search_progress {
 public:
  search_progress() = default;
  search_progress(std::uint64_t visited, std::uint64_t reached, std::chrono::nanoseconds since)
      : nodes(visited), depth(reached), elapsed(since) {}

  std::uint64_t nodes = 0;  ///< positions visited so far
  /// Level that a breadth-first search expands (of both sides of a bidirectional one), bound of an
  /// iterative deepening, cost of what a best-first search expands; else 0.
  std::uint64_t depth = 0;
  std::chrono::nanoseconds elapsed{0};  ///< since the search began
  double nodes_per_second = 0;          ///< since the report before
  std::size_t memory_bytes = 0;         ///< what the search keeps: seen set, frontier
};

/// How far, how wide and how long a search may go. Members may be set directly or by the setters,
/// which can be chained: `search_options().with_node_limit(1'000'000).with_time_limit(2s)`.
///
/// A limit of 0 would let nothing be visited: it is refused, by the setter or, where the member was
/// set, by the search, with a std::invalid_argument. A search that reaches a limit ends all its
/// tasks and says so in its result (search_result::outcome); it does not throw.
class TANDEM_API search_options {
 public:
  /// Called now and then, never twice at the same time, on whichever thread searches; if it throws,
  /// the search fails with that exception.
  using progress_function = std::function<void(const search_progress&)>;

  search_options() = default;

  /// @throws              std::invalid_argument: 0
  search_options& with_node_limit(std::uint64_t nodes);
  /// @throws              std::invalid_argument: not above 0
  search_options& with_time_limit(std::chrono::nanoseconds limit);
  /// @throws              std::invalid_argument: 0
  search_options& with_memory_limit(std::size_t bytes);
  search_options& with_parallelism(unsigned tasks) noexcept {
    parallelism = tasks;
    return *this;
  }
  search_options& with_executor(executor& chosen) noexcept {
    on = &chosen;
    return *this;
  }
  search_options& with_stop_token(std::stop_token token) noexcept {
    stop_token = std::move(token);
    return *this;
  }
  search_options& with_progress(progress_function callback, std::chrono::nanoseconds interval =
                                                                std::chrono::milliseconds(100)) {
    progress = std::move(callback);
    progress_interval = interval;
    return *this;
  }
  search_options& with_transpositions(std::size_t bytes) noexcept {
    transposition_bytes = bytes;
    return *this;
  }

  /// Checks what the setters check, for members that were set directly.
  ///
  /// @throws              std::invalid_argument: one line that names the limit
  void validate() const;

  /// Positions to visit at most. sequential_search keeps to it exactly, the others look at the sum
  /// now and then and may pass it by some hundreds of positions per worker.
  std::optional<std::uint64_t> node_limit;
  /// Time to search at most.
  std::optional<std::chrono::nanoseconds> time_limit;
  /// Bytes that seen set, frontier and table of transpositions may take together. What positions
  /// and moves own outside of themselves is not counted.
  std::optional<std::size_t> memory_limit;
  /// Tasks that search at the same time, at most 1024; 0 is one per worker of the pool that
  /// searches. More than it has workers gain nothing.
  unsigned parallelism = 0;
  /// Where its tasks run: the workers() of a tandem::runtime, a strand, any other; null is the worker
  /// pool of the caller's runtime. Stays the caller's until
  /// the search has returned. On an executor that is no worker pool there is one task unless
  /// `parallelism` says otherwise.
  executor* on = nullptr;
  /// Ends the search with operation_cancelled, beside a stop of the task that awaits it.
  std::stop_token stop_token;
  progress_function progress;
  std::chrono::nanoseconds progress_interval = std::chrono::milliseconds(100);
  /// Iterative deepening only: bytes for remembering positions that have been reached at no higher
  /// cost in the same iteration, which are not searched again. 0 is none: best for puzzles whose
  /// positions are rarely met twice. With it, graphs full of cycles end, too.
  std::size_t transposition_bytes = 0;
};

}  // namespace tandem::inline v0
