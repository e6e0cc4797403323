// candidate_batch.hpp: positions that were reached, entered into a seen set shard by shard.
// SPDX-License-Identifier: MIT
//
// What a task reaches in one go is put in order of the shards, by counting, so that a shard is
// locked once for a row of positions whose slots have been prefetched. Whatever else is to be asked
// of the new ones is asked afterwards, under no lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tandem/detail/search/search_memory.hpp>

namespace tandem::inline v0::detail {

template <class Candidate, class Node>
class candidate_batch {
 public:
  explicit candidate_batch(search_control& control)
      : reached(control), first_(control), next_(control), order_(control), entered_(control) {}

  /// Enters all of `reached` into `seen`, the shard number `start` first. `put(shard, candidate)` is
  /// called under the shard's lock and gives a node, or nullptr if there is nothing new about it;
  /// `visit(candidate, node)` is called for the others under no lock.
  template <class Seen, class Put, class Visit>
  void enter(Seen& seen, std::size_t start, Put put, Visit visit) {
    sort(seen);
    const std::size_t shards = seen.shard_count();
    for (std::size_t i = 0; i < shards; ++i) {
      const std::size_t shard = (start + i) & (shards - 1);
      if (first_[shard] == first_[shard + 1]) continue;
      entered_.clear();
      seen.with_shard(shard, [&](auto& locked) { enter_shard(locked, shard, put); });
      for (const entered& each : entered_) visit(reached[each.index], each.node);
    }
  }

  search_vector<Candidate> reached;

 private:
  class entered {
   public:
    std::uint32_t index;
    Node* node;
  };

  template <class Seen>
  void sort(const Seen& seen) {
    first_.assign(seen.shard_count() + 1, 0);
    for (const Candidate& each : reached) ++first_[seen.shard_of(each.hash) + 1];
    for (std::size_t shard = 1; shard < first_.size(); ++shard) first_[shard] += first_[shard - 1];
    order_.resize(reached.size());
    next_ = first_;
    for (std::uint32_t index = 0; index < reached.size(); ++index) {
      order_[next_[seen.shard_of(reached[index].hash)]++] = index;
    }
  }

  template <class Shard, class Put>
  void enter_shard(Shard& locked, std::size_t shard, Put& put) {
    const std::uint32_t first = first_[shard];
    const std::uint32_t last = first_[shard + 1];
    for (std::uint32_t i = first; i < last; ++i) locked.prefetch(reached[order_[i]].hash);
    for (std::uint32_t i = first; i < last; ++i) {
      Node* const node = put(locked, reached[order_[i]]);
      if (node != nullptr) entered_.push_back({order_[i], node});
    }
  }

  search_vector<std::uint32_t> first_;  // by shard: where its indices begin in order_
  search_vector<std::uint32_t> next_;
  search_vector<std::uint32_t> order_;
  search_vector<entered> entered_;
};

}  // namespace tandem::inline v0::detail
