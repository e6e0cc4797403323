// best_first.hpp: the cheapest path, by A* on all workers.
// SPDX-License-Identifier: MIT
//
// The open positions of each partition wait in order of f = g + h: what was paid for reaching them
// and what the estimate says of the rest. A batch of those with the lowest f of all partitions, the
// least h of each first, is expanded by all workers, and what they reached is entered, and put in
// order, partition by partition, as in a breadth-first search; then the next batch is taken.
// Batches are small, some hundreds for each worker, or an eighth of what is open, so that among
// equal promises the search dives for the goal; and not too small either: where few have the lowest
// f, some of the next ones are expanded on trust, since cheaper ones are hardly left.
//
// A position that is reached again at less cost gets its new parent by whoever enters its partition
// (searching/lower), and is opened again, whether it was expanded before or not. So the estimate
// needs not be consistent, and the order in which a batch is expanded does not matter: when no open
// position promises less than the cheapest goal that was reached, that one is the cheapest of all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include <tandem/detail/search/best_first_partition.hpp>
#include <tandem/detail/search/candidate_row.hpp>
#include <tandem/detail/search/estimate.hpp>
#include <tandem/detail/search/open_list.hpp>
#include <tandem/detail/search/path.hpp>
#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/search_crew.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// Finds a cheapest path, or sees that there is none: A*, or Dijkstra's algorithm if the puzzle has
/// no heuristic. Needs memory for each position that it reaches; iterative_deepening_search does
/// not.
///
/// @param puzzle        stays the caller's until the await returns
/// @returns             a cheapest path if there is one
/// @throws              what the puzzle throws, first error first; operation_cancelled;
///                      puzzle_error: a cost of 0, an estimate below 0 or one that is too high, as
///                      seen at a goal or on the path that was found
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @resumes_on          the executor that the caller awaited from; searches on the worker pool
/// @cost                per position what it is kept as, 16 bytes for its parent and cost, 10-15
///                      for its slot; 16 each time it is opened
/// @source              Hart, Nilsson, Raphael, A Formal Basis for the Heuristic Determination of
///                      Minimum Cost Paths (1968)
template <puzzle P>
[[nodiscard]] task<search_result<P>> best_first_search(const P& puzzle,
                                                       search_options options = {});

// Implementation

namespace detail {

template <puzzle P>
class best_first {
 public:
  using node = search_node<P, least_cost>;
  using partition = best_first_partition<P>;
  using part = best_first_part<P>;
  using crew = search_crew<part>;

  best_first(const P& puzzle, const search_options& options);

  /// Expands a batch after the other until the search has ended.
  static task<void> run(best_first& self);

  search_result<P> result();

 private:
  static constexpr std::uint64_t no_bound = partition::no_cost;
  // Of a batch, for each partition.
  static constexpr std::size_t least_batch = 4;
  static constexpr std::size_t small_batch = 64;
  static constexpr std::size_t large_batch = 512;

  class expansion;
  class entry;

  void begin();
  void look_around() noexcept;

  const P& puzzle_;
  search_control control_;
  const partitioning by_;
  std::vector<std::unique_ptr<partition>> partitions_;
  crew crew_;

  // Changed between phases.
  const node* goal_ = nullptr;       // the cheapest that was reached
  std::uint64_t bound_ = no_bound;   // its cost: nothing that promises no less is of interest
  std::uint64_t lowest_ = no_bound;  // what is open promises no less
  std::size_t most_batch_ = small_batch;
  std::size_t batch_ = 0;  // how many are expanded next, about
};

template <puzzle P>
best_first<P>::best_first(const P& puzzle, const search_options& options)
    : puzzle_(puzzle),
      control_(options),
      by_(search_parallelism(options)),
      crew_(control_, search_parallelism(options)) {
  partitions_.reserve(by_.count());
  for (std::size_t i = 0; i < by_.count(); ++i) {
    partitions_.push_back(std::make_unique<partition>(control_));
  }
}

/// searching/expand: takes what a partition promises, and expands it.
template <puzzle P>
class best_first<P>::expansion {
 public:
  explicit expansion(best_first& search) noexcept : of_(search) {}

  static constexpr bool ends_round = false;

  bool claim(part& own) {
    // What is not taken stays in its lists.
    if (own.reached.size() >= 2 * round_length) return false;
    while (true) {
      const std::size_t claimed = of_.crew_.cursor.take(1);
      if (claimed >= of_.partitions_.size()) return false;
      partition& from = *of_.partitions_[claimed];
      own.batch.clear();
      own.next = 0;
      from.take(own.batch, of_.lowest_, of_.bound_, least_batch, of_.most_batch_);
      if (own.batch.empty()) continue;
      from.sum_up(large_batch);
      return true;
    }
  }
  std::uint32_t advance(part& own, std::uint32_t most) {
    return own.expand(of_.puzzle_, most, of_.bound_);
  }

 private:
  best_first& of_;
};

/// searching/enter
template <puzzle P>
class best_first<P>::entry {
 public:
  explicit entry(best_first& search) noexcept : of_(search) {}

  static constexpr bool ends_round = true;

  bool claim(part& own) {
    own.partition = of_.crew_.cursor.take(1);
    own.row = 0;
    own.next = 0;
    return own.partition < of_.partitions_.size();
  }
  std::uint32_t advance(part& own, std::uint32_t most) {
    partition& into = *of_.partitions_[own.partition];
    const auto& rows = of_.crew_.parts();
    for (; own.row < rows.size(); ++own.row) {
      auto& reached = rows[own.row]->reached.of_partition(own.partition);
      const std::size_t first = own.next;
      own.next = std::min<std::size_t>(reached.size(), first + most);
      if (own.next != first) {
        own.found += into.enter(of_.puzzle_, reached, first, own.next, of_.bound_);
        return static_cast<std::uint32_t>(own.next - first);
      }
      reached.clear();
      own.next = 0;
    }
    into.sum_up(large_batch);
    return 0;
  }

 private:
  best_first& of_;
};

template <puzzle P>
task<void> best_first<P>::run(best_first& self) {
  try {
    self.begin();
    while (self.control_.running()) {
      self.look_around();
      if (self.lowest_ >= self.bound_) {
        self.control_.finish(self.goal_ != nullptr ? search_outcome::solved
                                                   : search_outcome::exhausted);
        break;
      }
      self.crew_.depth = self.lowest_;
      for (const auto& each : self.crew_.parts()) each->reached.begin_phase();
      expansion expand(self);
      co_await crew::run(self.crew_, expand, self.batch_, 0);
      std::size_t reached = 0;
      for (const auto& each : self.crew_.parts()) reached += each->reached.size();
      if (reached == 0) continue;
      entry enter(self);
      co_await crew::run(self.crew_, enter, reached, 0);
    }
  } catch (...) {
    self.control_.fail(std::current_exception());
  }
}

template <puzzle P>
search_result<P> best_first<P>::result() {
  search_result<P> result;
  control_.conclude(result);
  for (const auto& each : partitions_) count_seen(result, each->seen);
  result.nodes = result.positions_kept;
  if (result.solved()) {
    put_path(result, puzzle_, path_to(puzzle_, goal_));
    if constexpr (guided_puzzle<P>) check_estimates(puzzle_, result.path, result.cost);
  }
  return result;
}

template <puzzle P>
void best_first<P>::begin() {
  const typename P::position root = puzzle_.initial();
  const std::uint64_t hash = mixed_hash(puzzle_, root);
  partition& first = *partitions_[by_.of(hash)];
  const node* added = first.seen.insert(hash, keep(puzzle_, root), nullptr, std::uint64_t{0});
  control_.count(1);
  first.look_at(puzzle_, root, open_entry<node>(added, 0), no_bound);
  first.sum_up(large_batch);
}

/// What the partitions have come to, between two batches.
template <puzzle P>
void best_first<P>::look_around() noexcept {
  std::size_t open = 0;
  lowest_ = no_bound;
  for (const auto& each : partitions_) {
    lowest_ = (std::min)(lowest_, each->lowest);
    open += each->open_count;
    if (each->goal_cost >= bound_) continue;
    bound_ = each->goal_cost;
    goal_ = each->goal;
  }
  most_batch_ = std::clamp(open / partitions_.size() / 8, small_batch, large_batch);
  batch_ = 0;
  for (const auto& each : partitions_) {
    const std::size_t some = (std::min)(each->open_count, least_batch);
    batch_ += each->lowest == lowest_
                  ? (std::max)(some, (std::min)(each->lowest_count, most_batch_))
                  : some;
  }
}

}  // namespace detail

template <puzzle P>
task<search_result<P>> best_first_search(const P& puzzle, search_options options) {
  co_await resume_on(detail::search_executor(options));
  const auto search = std::make_unique<detail::best_first<P>>(puzzle, options);
  co_await detail::best_first<P>::run(*search);
  co_return search->result();
}

}  // namespace tandem::inline v0
