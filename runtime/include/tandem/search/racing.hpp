// racing.hpp: depth-first search by all workers; the first solution wins.
// SPDX-License-Identifier: MIT
//
// After ConcurrentPuzzleSolver and PuzzleSolver of "Java Concurrency in Practice" 8.5, with a stack
// of positions per task in place of a task per position. A position enters the seen set before it
// is expanded, so nobody expands it twice. The first task to reach a goal ends the search, and
// whatever the others still do changes nothing.
//
// Termination is counted in units, stacks of open positions with the task that works on them
// (searching/unit, searching/last_unit in src/search/README.md). The positions that a unit adds to
// its own stack are covered by its own count; some move to a new unit, counted first, when fewer
// tasks are alive than asked for. So there are about `parallelism` tasks at most (some that look at
// once may each start one), and a stack entry is one pointer.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

#include <tandem/detail/search/expand.hpp>
#include <tandem/detail/search/path.hpp>
#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/search_memory.hpp>
#include <tandem/detail/search/seen_set.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0 {

/// Finds a path, or visits everything.
///
/// @param puzzle        stays the caller's until the await returns
/// @returns             some path if there is one, not the shortest, another in every run
/// @throws              what the puzzle throws, first error first; operation_cancelled
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @resumes_on          the executor that the caller awaited from; searches on the worker pool
/// @cost                per position what it is kept as, 8 bytes for its parent, 10-15 for its
///                      slot, 8 while it is open
/// @source              Goetz et al., Java Concurrency in Practice, 8.5.1, listings 8.15-8.18
template <puzzle P>
[[nodiscard]] task<search_result<P>> racing_search(const P& puzzle, search_options options = {});

// Implementation

namespace detail {

template <puzzle P>
class race {
 public:
  using node = search_node<P>;

  race(const P& puzzle, const search_options& options)
      : puzzle_(puzzle),
        control_(options),
        seen_(control_, search_parallelism(options)),
        parallelism_(search_parallelism(options)) {}

  static task<void> run(race& self, task_scope& scope) {
    try {
      self.begin(scope);
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
    co_return;
  }

  search_result<P> result() {
    search_result<P> result;
    control_.conclude(result);
    count_seen(result, seen_);
    result.nodes = result.positions_kept;
    if (goal_ != nullptr) put_path(result, puzzle_, path_to(puzzle_, goal_));
    return result;
  }

 private:
  using stack = search_vector<const node*>;

  class unit {
   public:
    unit(race& of, task_scope& in, stack&& positions)
        : race_(&of), scope_(&in), open(std::move(positions)) {
      of.units_.fetch_add(1, std::memory_order_relaxed);  // searching/unit
    }
    unit(unit&& other) noexcept
        : race_(std::exchange(other.race_, nullptr)),
          scope_(other.scope_),
          open(std::move(other.open)) {}
    unit& operator=(unit&&) = delete;
    ~unit() { end(); }

    /// Counts down. Called at the end of the task, since its frame may outlive the race; by the
    /// destructor only where the task never ran.
    void end() noexcept {
      if (race_ == nullptr) return;
      race& of = *std::exchange(race_, nullptr);
      if (!open.empty()) of.control_.cancel();  // changes nothing if the search has ended
      stack(of.control_).swap(open);            // its memory goes back while the search is there
      // searching/last_unit. acq_rel: whoever ended the search has done so before this.
      if (of.units_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        of.control_.finish(search_outcome::exhausted);
      }
    }

    /// Every second position, for another task.
    unit split() {
      stack given(race_->control_);
      given.reserve(open.size() / 2 + 1);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (i % 2 == 0) {
          given.push_back(open[i]);
        } else {
          open[kept++] = open[i];
        }
      }
      open.resize(kept);
      return unit(*race_, *scope_, std::move(given));
    }

    race& of() const noexcept { return *race_; }
    task_scope& scope() const noexcept { return *scope_; }

   private:
    race* race_;  // null once moved from
    task_scope* scope_;

   public:
    stack open;
  };

  void begin(task_scope& scope) {
    const typename P::position root = puzzle_.initial();
    stack open(control_);
    open.push_back(seen_.insert(mixed_hash(puzzle_, root), keep(puzzle_, root)));
    control_.count(1);
    if (puzzle_.is_goal(root)) {
      win(open.front());
    } else {
      scope.spawn(search(unit(*this, scope, std::move(open))));
    }
  }

  static task<void> search(unit own) {
    race& self = own.of();
    try {
      search_pacer pacer;
      search_vector<search_candidate<P>> reached(self.control_);
      std::uint64_t visited = 0;
      while (!own.open.empty() && self.control_.running()) {
        visited += self.expand_top(own.open, reached);
        if (!pacer.due()) continue;
        if (!self.control_.checkpoint(pacer, std::exchange(visited, 0))) break;
        if (self.hungry(own)) own.scope().spawn(search(own.split()));
        if (!pacer.segment_over()) continue;
        co_await yield();
        pacer.begin_segment();
      }
      self.control_.count(visited);
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
    own.end();
  }

  /// @returns             new positions
  std::uint64_t expand_top(stack& open, search_vector<search_candidate<P>>& reached) {
    const node* top = open.back();
    open.pop_back();
    reached.clear();
    expand(puzzle_, *top, reached);
    std::uint64_t added = 0;
    for (auto& each : reached) {
      const node* next = seen_.insert(each.hash, each.kept(), each.from);
      if (next == nullptr) continue;
      ++added;
      open.push_back(next);
      if (puzzle_.is_goal(each.position_in(*next))) win(next);
    }
    return added;
  }

  bool hungry(const unit& own) const noexcept {
    // Relaxed: a hint.
    return own.open.size() >= 2 && units_.load(std::memory_order_relaxed) < parallelism_;
  }

  void win(const node* goal) {
    if (control_.finish(search_outcome::solved)) goal_ = goal;
  }

  const P& puzzle_;
  search_control control_;
  seen_set<P> seen_;
  const unsigned parallelism_;
  const node* goal_ = nullptr;  // searching/winner
  std::atomic<unsigned> units_{0};
};

}  // namespace detail

template <puzzle P>
task<search_result<P>> racing_search(const P& puzzle, search_options options) {
  co_await resume_on(detail::search_executor(options));
  const auto search = std::make_unique<detail::race<P>>(puzzle, options);
  auto start = [&](task_scope& scope) { return detail::race<P>::run(*search, scope); };
  co_await with_scope(start);
  co_return search->result();
}

}  // namespace tandem::inline v0
