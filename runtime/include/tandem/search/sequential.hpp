// sequential.hpp: depth-first search by one thread.
// SPDX-License-Identifier: MIT
//
// Depth first with an explicit stack: a position is marked as seen when it is first reached, and
// its successors wait on the stack. Finds a path, rarely a short one.
#pragma once

#include <exception>
#include <memory>

#include <tandem/detail/search/expand.hpp>
#include <tandem/detail/search/path.hpp>
#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/search_memory.hpp>
#include <tandem/detail/search/seen_set.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0 {

/// Searches depth first on the calling thread until a goal is found; a plain function.
///
/// @param puzzle        stays the caller's
/// @returns             a path if there is one, not the shortest; never passes the node limit
/// @throws              what the puzzle throws; operation_cancelled if called in a task that is
///                      stopped
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @cost                per position what it is kept as, 8 bytes for its parent, 10-15 for its
///                      slot, 8 while it is open; no atomic operation per position
template <puzzle P>
search_result<P> sequential_search(const P& puzzle, const search_options& options = {});

/// The same search as a task that yields after every 200 us, so that it shares its worker.
///
/// @param puzzle        stays the caller's until the await returns
/// @cancellation        as sequential_search
/// @resumes_on          the executor that the caller awaited from, and searches there
template <puzzle P>
[[nodiscard]] task<search_result<P>> cooperative_search(const P& puzzle,
                                                        search_options options = {});

// Implementation

namespace detail {

template <puzzle P>
class depth_first {
 public:
  depth_first(const P& puzzle, const search_options& options)
      : puzzle_(puzzle), control_(options), seen_(control_), open_(control_), reached_(control_) {}

  /// Works for one stride. False when the search has ended.
  bool advance() {
    const std::uint64_t before = seen_.size();
    try {
      if (nodes_ == 0) begin();
      do {
        if (open_.empty()) control_.finish(search_outcome::exhausted);
        if (!control_.running()) return false;
        const search_node<P>* node = open_.back();
        open_.pop_back();
        expand_node(*node);
      } while (!pacer_.due());
      return control_.checkpoint(pacer_, seen_.size() - before);
    } catch (...) {
      control_.fail(std::current_exception());
      return false;
    }
  }

  search_pacer& pacer() noexcept { return pacer_; }

  search_result<P> result() {
    search_result<P> result;
    control_.conclude(result);
    result.nodes = nodes_;
    count_seen(result, seen_);
    if (goal_ != nullptr) put_path(result, puzzle_, path_to(puzzle_, goal_));
    return result;
  }

 private:
  void begin() {
    const typename P::position root = puzzle_.initial();
    visit(root, seen_.insert(mixed_hash(puzzle_, root), keep(puzzle_, root)));
  }

  void expand_node(const search_node<P>& node) {
    reached_.clear();
    expand(puzzle_, node, reached_);
    for (const auto& each : reached_) seen_.prefetch(each.hash);
    for (auto& each : reached_) {
      const auto* added = seen_.insert(each.hash, each.kept(), each.from);
      if (added != nullptr && !visit(each.position_in(*added), added)) return;
    }
  }

  bool visit(const typename P::position& at, const search_node<P>* node) {
    if (control_.node_limit() != 0 && nodes_ == control_.node_limit()) {
      control_.finish(search_outcome::node_limit);
      return false;
    }
    ++nodes_;
    if (puzzle_.is_goal(at)) {
      control_.finish(search_outcome::solved);
      goal_ = node;
      return false;
    }
    open_.push_back(node);
    return true;
  }

  const P& puzzle_;
  search_control control_;
  search_pacer pacer_;
  seen_shard<P> seen_;
  std::uint64_t nodes_ = 0;  // the seen set may hold one more, at which the limit was noticed
  search_vector<const search_node<P>*> open_;
  search_vector<search_candidate<P>> reached_;
  const search_node<P>* goal_ = nullptr;
};

}  // namespace detail

template <puzzle P>
search_result<P> sequential_search(const P& puzzle, const search_options& options) {
  detail::depth_first<P> search(puzzle, options);
  while (search.advance()) {}
  return search.result();
}

template <puzzle P>
task<search_result<P>> cooperative_search(const P& puzzle, search_options options) {
  // On the heap: frames keep nothing that is aligned to a cache line.
  const auto search = std::make_unique<detail::depth_first<P>>(puzzle, options);
  while (search->advance()) {
    if (!search->pacer().segment_over()) continue;
    co_await yield();
    search->pacer().begin_segment();
  }
  co_return search->result();
}

}  // namespace tandem::inline v0
