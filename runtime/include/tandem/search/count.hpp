// count.hpp: counts the goals of a tree.
// SPDX-License-Identifier: MIT
//
// For puzzles whose moves form a tree (queens row by row): no seen set, so a goal is counted once
// for each sequence of moves that leads to it, and a graph with a cycle never ends. A goal is a
// leaf.
//
// A task walks its stack of open positions as a plain loop. Only when it is not done after some 100
// microseconds it forks: every second open position goes to one child, the others to a second one,
// which halves every level of the tree between them. Small subtrees never see a fork, and large
// ones need one in several thousand positions, however unbalanced the tree is.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/search/search_control.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0 {

/// Counts all goals of a tree-shaped puzzle, by recursive fork and join.
///
/// @param puzzle        stays the caller's until the await returns
/// @returns             `solutions` and `nodes` of the whole tree; no path; outcome exhausted, or
///                      the limit that ended it: then what was counted until there
/// @throws              what the puzzle throws, first error first; operation_cancelled
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @resumes_on          the executor that the caller awaited from; counts on the worker pool
/// @cost                the open positions of each task and a fork in some 50 us; no seen set
template <puzzle P>
[[nodiscard]] task<search_result<P>> count_solutions(const P& puzzle, search_options options = {});

// Implementation

namespace detail {

template <puzzle P>
class tree_count {
 public:
  using position = typename P::position;

  tree_count(const P& puzzle, const search_options& options)
      : puzzle_(puzzle), control_(options), is_parallel_(search_parallelism(options) > 1) {}

  static task<void> run(tree_count& self) {
    std::vector<position> open;
    open.push_back(self.puzzle_.initial());
    co_await walk(self, std::move(open), 1);
    self.control_.finish(search_outcome::exhausted);
  }

  search_result<P> result() {
    search_result<P> result;
    control_.conclude(result);
    result.solutions = solutions_.load(std::memory_order_relaxed);
    return result;
  }

 private:
  static task<void> walk(tree_count& self, std::vector<position> open, std::uint32_t stride) {
    search_pacer pacer(stride);
    std::uint64_t visited = 0;
    try {
      while (!open.empty() && self.control_.running()) {
        self.visit_top(open);
        ++visited;
        if (!pacer.due()) continue;
        if (!self.control_.checkpoint(pacer, std::exchange(visited, 0))) break;
        if (!pacer.segment_over()) continue;
        if (self.is_parallel_ && open.size() >= 2) {
          std::vector<position> other = split(open);
          // Named, since g++ 12 is not to be trusted with temporaries in a co_await.
          task<void> first = walk(self, std::move(open), pacer.stride());
          task<void> second = walk(self, std::move(other), pacer.stride());
          co_await fork_join(std::move(first), std::move(second));
          break;
        }
        co_await yield();
        pacer.begin_segment();
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
    self.control_.count(visited);
  }

  void visit_top(std::vector<position>& open) {
    const position at = std::move(open.back());
    open.pop_back();
    if (puzzle_.is_goal(at)) {
      // Goals are rare among positions; a sum per task would have to travel through every join.
      solutions_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    for (auto&& by : puzzle_.legal_moves(at)) open.push_back(puzzle_.apply(at, by));
  }

  static std::vector<position> split(std::vector<position>& open) {
    std::vector<position> given;
    std::vector<position> kept;
    given.reserve(open.size() / 2 + 1);
    kept.reserve(open.size() / 2);
    for (std::size_t i = 0; i < open.size(); ++i) {
      (i % 2 == 0 ? given : kept).push_back(std::move(open[i]));
    }
    open = std::move(kept);
    return given;
  }

  const P& puzzle_;
  search_control control_;
  const bool is_parallel_;
  alignas(64) std::atomic<std::uint64_t> solutions_{0};
};

}  // namespace detail

template <puzzle P>
task<search_result<P>> count_solutions(const P& puzzle, search_options options) {
  co_await resume_on(detail::search_executor(options));
  const auto count = std::make_unique<detail::tree_count<P>>(puzzle, options);
  co_await detail::tree_count<P>::run(*count);
  co_return count->result();
}

}  // namespace tandem::inline v0
