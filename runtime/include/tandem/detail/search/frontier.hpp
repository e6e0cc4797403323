// frontier.hpp: a breadth-first search from some roots: what was seen, and its outermost level.
// SPDX-License-Identifier: MIT
//
// The frontier of depth d is all positions d moves away from the nearest root, each by the address
// of its node. expand() may be called by several tasks at once, for parts of the frontier;
// advance() between levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tandem/detail/search/candidate_batch.hpp>
#include <tandem/detail/search/expand.hpp>
#include <tandem/detail/search/level.hpp>
#include <tandem/detail/search/seen_set.hpp>

namespace tandem::inline v0::detail {

/// A task's own, while it expands a part of a frontier.
template <puzzle P>
class frontier_part : public level_part {
 public:
  using node = search_node<P>;

  frontier_part(search_control& control, std::size_t number)
      : level_part(number), batch(control), next(control) {}

  candidate_batch<search_candidate<P>, node> batch;
  search_vector<const node*> next;  // new positions of the next level
};

template <puzzle P>
class frontier {
 public:
  using node = search_node<P>;
  using part = frontier_part<P>;

  frontier(search_control& control, unsigned workers)
      : seen_(control, workers), level_(control), workers_(workers) {}

  /// Before the first level. nullptr if it is there already.
  const node* add_root(const P& puzzle, const typename P::position& at) {
    const node* root = seen_.insert(mixed_hash(puzzle, at), keep(puzzle, at));
    if (root != nullptr) level_.push_back(root);
    return root;
  }

  /// Expands positions `first` to `last` of the level. Calls `visit(position, candidate, node)` for
  /// each new one, under no lock.
  ///
  /// @returns             new positions
  template <class Visit>
  std::uint64_t expand(const P& puzzle, part& own, std::size_t first, std::size_t last,
                       Visit visit) {
    own.batch.reached.clear();
    for (std::size_t i = first; i < last; ++i) {
      if (i + prefetch_distance < last) TANDEM_PREFETCH(level_[i + prefetch_distance]);
      detail::expand(puzzle, *level_[i], own.batch.reached);
    }
    const std::size_t found = own.next.size();
    // Each task begins elsewhere, so that they do not queue for one shard after the other.
    const std::size_t start = seen_.shard_count() / workers_ * own.index;
    auto put = [](auto& shard, search_candidate<P>& reached) {
      return shard.insert(reached.hash, reached.kept(), reached.from);
    };
    own.batch.enter(seen_, start, put, [&](const search_candidate<P>& reached, const node* added) {
      own.next.push_back(added);
      visit(reached.position_in(*added), reached, added);
    });
    return own.next.size() - found;
  }

  /// What `parts` found becomes the level.
  template <class Parts>
  void advance(const Parts& parts) {
    level_.clear();
    for (const auto& each : parts) {
      level_.insert(level_.end(), each->next.begin(), each->next.end());
      each->next.clear();
    }
    if (!level_.empty()) ++depth_;
  }

  const seen_set<P>& seen() const noexcept { return seen_; }
  std::size_t size() const noexcept { return level_.size(); }
  /// Of the outermost level that has a position.
  std::uint64_t depth() const noexcept { return depth_; }

 private:
  static constexpr std::size_t prefetch_distance = 4;

  seen_set<P> seen_;
  search_vector<const node*> level_;
  const unsigned workers_;
  std::uint64_t depth_ = 0;
};

}  // namespace tandem::inline v0::detail
