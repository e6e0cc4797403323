// breadth_first.hpp: the shortest path, level by level.
// SPDX-License-Identifier: MIT
//
// All positions of one depth are expanded before any of the next, so the first goal met is a
// nearest one. A level in which a goal turns up is finished all the same, which makes the number of
// positions the same in every run; which of several shortest paths is found is left to chance.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include <tandem/detail/search/frontier.hpp>
#include <tandem/detail/search/path.hpp>
#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/search_crew.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// Finds a shortest path, or visits everything.
///
/// @param puzzle        stays the caller's until the await returns
/// @returns             a shortest path if there is one; `nodes` is the same in every run unless a
///                      limit ended the search
/// @throws              what the puzzle throws, first error first; operation_cancelled
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @resumes_on          the executor that the caller awaited from; searches on the worker pool
/// @cost                per position what it is kept as, 8 bytes for its parent, 10-15 for its
///                      slot; for each task what some 16,000 positions take that are to be
///                      entered, and two frames for each so many
template <puzzle P>
[[nodiscard]] task<search_result<P>> breadth_first_search(const P& puzzle,
                                                          search_options options = {});

// Implementation

namespace detail {

template <puzzle P>
class breadth_first {
 public:
  using node = search_node<P>;

  breadth_first(const P& puzzle, const search_options& options)
      : puzzle_(puzzle),
        control_(options),
        reached_(control_, search_parallelism(options)),
        crew_(control_, search_parallelism(options)) {}

  /// Searches a level after the other until the search has ended.
  static task<void> run(breadth_first& self) {
    try {
      self.begin();
      while (self.control_.running()) {
        if (self.goal_.load(std::memory_order_relaxed) != nullptr) {
          self.control_.finish(search_outcome::solved);
        } else if (self.reached_.level_size() == 0) {
          self.control_.finish(search_outcome::exhausted);
        } else {
          self.crew_.depth = self.reached_.depth();
          co_await frontier<P>::search_level(self.reached_, self.puzzle_, self.crew_, self);
        }
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
  }

  /// Looks at a new position, for the level that is searched.
  void operator()(const typename P::position& at, const auto&, const node* added) {
    if (!puzzle_.is_goal(at)) return;
    // searching/goal: any goal of the level is as good.
    const node* none = nullptr;
    goal_.compare_exchange_strong(none, added, std::memory_order_relaxed);
  }

  search_result<P> result() {
    search_result<P> result;
    control_.conclude(result);
    count_seen(result, reached_);
    result.nodes = result.positions_kept;
    result.depth = reached_.depth();
    if (result.solved()) {
      put_path(result, puzzle_, path_to(puzzle_, goal_.load(std::memory_order_relaxed)));
    }
    return result;
  }

 private:
  void begin() {
    const typename P::position root = puzzle_.initial();
    const node* added = reached_.add_root(puzzle_, root);
    control_.count(1);
    if (puzzle_.is_goal(root)) goal_.store(added, std::memory_order_relaxed);
  }

  const P& puzzle_;
  search_control control_;
  frontier<P> reached_;
  search_crew<frontier_part<P>> crew_;
  std::atomic<const node*> goal_{nullptr};
};

}  // namespace detail

template <puzzle P>
task<search_result<P>> breadth_first_search(const P& puzzle, search_options options) {
  co_await resume_on(detail::search_executor(options));
  const auto search = std::make_unique<detail::breadth_first<P>>(puzzle, options);
  co_await detail::breadth_first<P>::run(*search);
  co_return search->result();
}

}  // namespace tandem::inline v0
