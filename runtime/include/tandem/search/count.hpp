// count.hpp: counts the goals, or the nodes, of a tree.
// SPDX-License-Identifier: MIT
//
// For puzzles whose moves form a tree (queens row by row): no seen set, so a position is counted
// once for each sequence of moves that leads to it, and a graph with a cycle never ends unless a
// limit ends it.
//
// A task walks the tree by plain recursion (tree_walk.hpp). Only when it is not done after some 200
// microseconds it forks: every second open position goes to one child, the others to a second one,
// which halves every level of the tree between them. Small subtrees never see a fork, and large
// ones need one in several thousand positions, however unbalanced the tree is. What a task has
// counted it adds to the sum when it ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/tree_walk.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0 {

/// Counts all goals of a tree-shaped puzzle, by recursive fork and join. A goal is a leaf: what
/// could be reached from it is not looked at.
///
/// @param puzzle        stays the caller's until the await returns
/// @returns             `solutions`, `nodes` and `depth` of the whole tree; no path; outcome
///                      exhausted, or the limit that ended it: then what was counted until there
/// @throws              what the puzzle throws, first error first; operation_cancelled
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @resumes_on          the executor that the caller awaited from; counts on the worker pool
/// @cost                the open positions of each task and a fork in some 200 us; no seen set
template <puzzle P>
[[nodiscard]] task<search_result<P>> count_solutions(const P& puzzle, search_options options = {});

/// Counts all nodes and leaves of a tree, and how deep it is; never asks is_goal().
///
/// @returns             `nodes`, `leaves`, `depth` (0 for a root without moves); outcome as above
/// @throws, @cancellation, @resumes_on, @cost  as count_solutions
/// @source              Olivier et al., UTS: An Unbalanced Tree Search Benchmark (2006), for one
template <puzzle P>
[[nodiscard]] task<tree_result> count_tree(const P& puzzle, search_options options = {});

// Implementation

namespace detail {

template <puzzle P, tree_goals Goals>
class tree_count {
 public:
  using plain_walk = tree_walk<P, Goals>;

  tree_count(const P& puzzle, const search_options& options)
      : puzzle_(puzzle), control_(options), is_parallel_(search_parallelism(options) > 1) {}

  static task<void> run(tree_count& self) {
    auto whole = std::make_unique<plain_walk>(self.puzzle_, self.control_);
    if (!self.begin(*whole)) co_return;
    co_await walk(self, std::move(whole), 1);
    self.control_.finish(search_outcome::exhausted);
  }

  /// After run().
  void conclude(search_summary& summary) {
    control_.conclude(summary);
    summary.solutions = solutions_.load(std::memory_order_relaxed);
    summary.depth = depth_.load(std::memory_order_relaxed);
  }
  std::uint64_t leaves() const noexcept { return leaves_.load(std::memory_order_relaxed); }

 private:
  /// @returns             false if that was too much for the limit of memory, or for the puzzle
  bool begin(plain_walk& whole) noexcept {
    try {
      whole.open_root();
      return true;
    } catch (...) {
      control_.fail(std::current_exception());
      return false;
    }
  }

  static task<void> walk(tree_count& self, std::unique_ptr<plain_walk> given,
                         std::uint32_t stride) {
    // Parameters live as long as the frame, which may be longer than the search.
    std::unique_ptr<plain_walk> own = std::move(given);
    search_pacer pacer(stride);
    try {
      while (own->open_count() > 0 && self.control_.running()) {
        const std::uint32_t visited = own->advance(pacer.stride());
        if (!self.control_.checkpoint(pacer, visited, visited, own->sums().depth)) break;
        if (!pacer.segment_over()) continue;
        if (self.is_parallel_ && own->open_count() >= 2) {
          std::unique_ptr<plain_walk> other = own->split();
          // Named, since g++ 12 is not to be trusted with temporaries in a co_await.
          task<void> first = walk(self, std::move(own), pacer.stride());
          task<void> second = walk(self, std::move(other), pacer.stride());
          co_await fork_join(std::move(first), std::move(second));
          co_return;
        }
        co_await yield();
        pacer.begin_segment();
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
    if (own != nullptr) self.add(own->sums());
  }

  void add(const tree_sums& sums) noexcept {
    // searching/sum. Relaxed, all of them: read after the join of all tasks.
    leaves_.fetch_add(sums.leaves, std::memory_order_relaxed);
    solutions_.fetch_add(sums.solutions, std::memory_order_relaxed);
    std::uint64_t depth = depth_.load(std::memory_order_relaxed);
    while (depth < sums.depth &&
           !depth_.compare_exchange_weak(depth, sums.depth, std::memory_order_relaxed)) {}
  }

  const P& puzzle_;
  search_control control_;
  const bool is_parallel_;
  std::atomic<std::uint64_t> leaves_{0};
  std::atomic<std::uint64_t> solutions_{0};
  std::atomic<std::uint64_t> depth_{0};
};

}  // namespace detail

template <puzzle P>
task<search_result<P>> count_solutions(const P& puzzle, search_options options) {
  using count_of = detail::tree_count<P, detail::tree_goals::are_leaves>;
  co_await resume_on(detail::search_executor(options));
  const auto count = std::make_unique<count_of>(puzzle, options);
  co_await count_of::run(*count);
  search_result<P> result;
  count->conclude(result);
  co_return result;
}

template <puzzle P>
task<tree_result> count_tree(const P& puzzle, search_options options) {
  using count_of = detail::tree_count<P, detail::tree_goals::ignored>;
  co_await resume_on(detail::search_executor(options));
  const auto count = std::make_unique<count_of>(puzzle, options);
  co_await count_of::run(*count);
  tree_result result;
  count->conclude(result);
  result.leaves = count->leaves();
  co_return result;
}

}  // namespace tandem::inline v0
