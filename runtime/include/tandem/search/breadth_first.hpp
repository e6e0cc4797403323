// breadth_first.hpp: the shortest path, level by level.
// SPDX-License-Identifier: MIT
//
// All positions of one depth are expanded before any of the next, so the first goal met is a
// nearest one. A level is shared out by a cursor among a few forked tasks, never a task per
// position; each takes batches of the length that its pacer finds right, sorts what it reached by
// shard, and puts it into the seen set shard by shard: one lock and a row of prefetched slots for
// many positions. A level in which a goal turns up is finished all the same, which makes the number
// of positions the same in every run; which of several shortest paths is found is left to chance.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/search/expand.hpp>
#include <tandem/search/search_control.hpp>
#include <tandem/search/seen_set.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0 {

/// Finds a shortest path, or visits everything.
///
/// @param puzzle        stays the caller's until the await returns
/// @returns             a shortest path if there is one; `nodes` is the same in every run unless a
///                      limit ended the search
/// @throws              what the puzzle throws, first error first; operation_cancelled
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @resumes_on          the executor that the caller awaited from; searches on the worker pool
/// @cost                one node and 12-24 bytes per position, a frame per worker and level
template <puzzle P>
[[nodiscard]] task<search_result<P>> breadth_first_search(const P& puzzle,
                                                          search_options options = {});

// Implementation

namespace detail {

/// Candidates put in order of their shards, by counting.
template <puzzle P>
class shard_order {
 public:
  void sort(const seen_set<P>& seen, const std::vector<search_candidate<P>>& candidates) {
    first_.assign(seen.shard_count() + 1, 0);
    for (const auto& each : candidates) ++first_[seen.shard_of(each.hash) + 1];
    for (std::size_t shard = 1; shard < first_.size(); ++shard) first_[shard] += first_[shard - 1];
    order_.resize(candidates.size());
    next_ = first_;
    for (std::uint32_t index = 0; index < candidates.size(); ++index) {
      order_[next_[seen.shard_of(candidates[index].hash)]++] = index;
    }
  }

  const std::uint32_t* begin_of(std::size_t shard) const noexcept {
    return order_.data() + first_[shard];
  }
  const std::uint32_t* end_of(std::size_t shard) const noexcept {
    return order_.data() + first_[shard + 1];
  }

 private:
  std::vector<std::uint32_t> first_;  // by shard: where its indices begin in order_
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> order_;
};

template <puzzle P>
class level_search {
 public:
  using node = search_node<P>;

  level_search(const P& puzzle, const search_options& options)
      : puzzle_(puzzle),
        control_(options),
        seen_(search_parallelism(options)),
        workers_(search_parallelism(options)) {}

  /// Searches a level after the other until the search has ended.
  static task<void> run(level_search& self) {
    self.begin();
    while (self.control_.running()) {
      if (self.goal_.load(std::memory_order_relaxed) != nullptr) {
        self.control_.finish(search_outcome::solved);
      } else if (self.level_.empty()) {
        self.control_.finish(search_outcome::exhausted);
      } else {
        co_await fork_join(self.fork_level());
        self.collect_level();
      }
    }
  }

  search_result<P> result() {
    search_result<P> result;
    control_.conclude(result);
    result.nodes = seen_.size();
    if (result.solved()) {
      result.path = path_to<P>(goal_.load(std::memory_order_relaxed));
      result.solutions = 1;
    }
    return result;
  }

 private:
  // What one task of a level works with; kept from level to level for its memory.
  class part {
   public:
    search_pacer pacer;
    std::vector<search_candidate<P>> reached;
    shard_order<P> order;
    std::vector<const node*> next;  // the new positions of the next level
  };

  void begin() {
    typename P::position root = puzzle_.initial();
    const std::uint64_t hash = mixed_hash(puzzle_, root);
    level_.push_back(seen_.insert(hash, std::move(root)));
    control_.count(1);
    look_for_goal(level_, 0);
  }

  /// As many tasks as the level has strides, one per worker at most.
  std::vector<task<void>> fork_level() {
    cursor_.store(0, std::memory_order_relaxed);
    const std::size_t strides = (level_.size() + stride_ - 1) / stride_;
    forked_ = std::min<std::size_t>(workers_, strides);
    while (parts_.size() < forked_) parts_.push_back(std::make_unique<part>());
    std::vector<task<void>> tasks;
    tasks.reserve(forked_);
    for (std::size_t i = 0; i < forked_; ++i) tasks.push_back(search_part(*this, *parts_[i], i));
    return tasks;
  }

  static task<void> search_part(level_search& self, part& own, std::size_t index) {
    own.pacer = search_pacer(static_cast<std::uint32_t>(self.stride_));
    try {
      while (self.control_.running()) {
        const std::size_t stride = std::min<std::size_t>(own.pacer.stride(), longest_batch);
        const std::size_t first = self.cursor_.fetch_add(stride, std::memory_order_relaxed);
        if (first >= self.level_.size()) break;
        const std::size_t last = std::min(first + stride, self.level_.size());
        const std::size_t found = own.next.size();
        self.expand_batch(own, first, last, index);
        self.look_for_goal(own.next, found);
        self.control_.checkpoint(own.pacer, own.next.size() - found,
                                 static_cast<std::uint32_t>(last - first), self.depth_);
        if (!own.pacer.segment_over()) continue;
        co_await yield();
        own.pacer.begin_segment();
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
  }

  void expand_batch(part& own, std::size_t first, std::size_t last, std::size_t index) {
    own.reached.clear();
    for (std::size_t i = first; i < last; ++i) {
      if (i + prefetch_distance < last) __builtin_prefetch(level_[i + prefetch_distance]);
      expand(puzzle_, *level_[i], own.reached);
    }
    own.order.sort(seen_, own.reached);
    // Each task begins elsewhere, so that they do not queue for one shard after the other.
    const std::size_t shards = seen_.shard_count();
    const std::size_t start = shards / workers_ * index;
    for (std::size_t i = 0; i < shards; ++i) {
      const std::size_t shard = (start + i) & (shards - 1);
      const std::uint32_t* begin = own.order.begin_of(shard);
      const std::uint32_t* end = own.order.end_of(shard);
      if (begin != end) insert(own, shard, begin, end);
    }
  }

  void insert(part& own, std::size_t shard, const std::uint32_t* begin, const std::uint32_t* end) {
    seen_.with_shard(shard, [&](seen_shard<P>& locked) {
      for (const std::uint32_t* each = begin; each != end; ++each) {
        locked.prefetch(own.reached[*each].hash);
      }
      for (const std::uint32_t* each = begin; each != end; ++each) {
        search_candidate<P>& candidate = own.reached[*each];
        auto* added = locked.insert(candidate.hash, std::move(candidate.at), candidate.from,
                                    std::move(candidate.via));
        if (added != nullptr) own.next.push_back(added);
      }
    });
  }

  void look_for_goal(const std::vector<const node*>& nodes, std::size_t first) {
    for (std::size_t i = first; i < nodes.size(); ++i) {
      if (!puzzle_.is_goal(nodes[i]->at)) continue;
      // Relaxed: read after the join of the level, or by tasks to which any goal is as good.
      const node* none = nullptr;
      goal_.compare_exchange_strong(none, nodes[i], std::memory_order_relaxed);
    }
  }

  void collect_level() {
    level_.clear();
    for (auto& each : parts_) {
      level_.insert(level_.end(), each->next.begin(), each->next.end());
      each->next.clear();
    }
    std::size_t longest = 1;
    for (std::size_t i = 0; i < forked_; ++i) {
      longest = std::max<std::size_t>(longest, parts_[i]->pacer.stride());
    }
    stride_ = std::min(longest, longest_batch);
    ++depth_;
  }

  static constexpr std::size_t longest_batch = 512;
  static constexpr std::size_t prefetch_distance = 4;

  const P& puzzle_;
  search_control control_;
  seen_set<P> seen_;
  const unsigned workers_;
  std::uint64_t depth_ = 0;
  std::size_t stride_ = 1;  // what the pacers found right in the last level
  std::size_t forked_ = 0;  // tasks of this level
  std::vector<const node*> level_;
  std::vector<std::unique_ptr<part>> parts_;
  std::atomic<const node*> goal_{nullptr};
  alignas(64) std::atomic<std::size_t> cursor_{0};  // the next of level_ to be expanded
};

}  // namespace detail

template <puzzle P>
task<search_result<P>> breadth_first_search(const P& puzzle, search_options options) {
  co_await resume_on(detail::search_executor(options));
  const auto search = std::make_unique<detail::level_search<P>>(puzzle, options);
  co_await detail::level_search<P>::run(*search);
  co_return search->result();
}

}  // namespace tandem::inline v0
