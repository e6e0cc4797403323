// open_list.hpp: what a best-first search still has to expand, in order of what it promises.
// SPDX-License-Identifier: MIT
//
// Buckets in order of f = g + h, the cost of a path through the position if the estimate h is true,
// and within it of h: of two positions that promise the same, the one nearer to a goal comes first.
// Within a bucket the last one in is the first one out. Of a position that was reached again at
// less cost the older entry stays, and is known by its cost. A partition has one, which only the
// task touches that has claimed the partition (searching/open).
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include <tandem/detail/search/search_memory.hpp>
#include <tandem/puzzle.hpp>

namespace tandem::inline v0::detail {

/// A position to be expanded, and the cost at which it was reached.
template <class Node>
class open_entry {
 public:
  open_entry(const Node* at, std::uint64_t paid) noexcept : node(at), cost(paid) {}

  const Node* node;
  std::uint64_t cost;
};

template <class Node>
class open_list {
 public:
  using entry = open_entry<Node>;

  /// What lists promise that hold nothing.
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};

  explicit open_list(search_control& control) : buckets_(control), control_(control) {}

  void push(const entry& what, search_cost estimate) {
    const key where(what.cost + estimate, estimate);
    bucket*& known = recent_[where.mixed() % recent_.size()];
    if (known == nullptr || known->first != where) {
      search_vector<entry> none(control_);
      known = &*buckets_.try_emplace(where, std::move(none)).first;
    }
    known->second.push_back(what);
    ++size_;
  }

  std::size_t size() const noexcept { return size_; }
  /// The lowest f there is, or `nothing`.
  std::uint64_t lowest() const noexcept {
    return buckets_.empty() ? nothing : buckets_.begin()->first.sum;
  }
  /// How many have the lowest f; looks no further than `enough`.
  std::size_t size_of_lowest(std::size_t enough) const noexcept {
    std::size_t sum = 0;
    const std::uint64_t least = lowest();
    for (const bucket& each : buckets_) {
      if (each.first.sum != least || sum >= enough) break;
      sum += each.second.size();
    }
    return (std::min)(sum, enough);
  }

  /// Moves to `out`, which is empty, the most promising ones: up to `most` where f is no more than
  /// `sum`, and of higher ones, below `bound`, only as long as there are fewer than `least`.
  void take(search_vector<entry>& out, std::uint64_t sum, std::uint64_t bound, std::size_t least,
            std::size_t most) {
    while (lowest() < bound) {
      const auto best = buckets_.begin();
      const std::size_t wanted = best->first.sum <= sum ? most : least;
      if (out.size() >= wanted) return;
      search_vector<entry>& entries = best->second;
      const std::size_t count = (std::min)(entries.size(), wanted - out.size());
      const auto first = entries.end() - static_cast<std::ptrdiff_t>(count);
      out.insert(out.end(), first, entries.end());
      entries.erase(first, entries.end());
      size_ -= count;
      if (!entries.empty()) return;
      bucket*& known = recent_[best->first.mixed() % recent_.size()];
      if (known == &*best) known = nullptr;
      buckets_.erase(best);
    }
  }

 private:
  class key {
   public:
    key(std::uint64_t f, search_cost h) noexcept : sum(f), estimate(h) {}
    auto operator<=>(const key&) const = default;
    /// Different for keys that are used at the same time, mostly.
    std::size_t mixed() const noexcept { return static_cast<std::size_t>(sum * 7 + estimate); }

    std::uint64_t sum;
    search_cost estimate;
  };
  using bucket = std::pair<const key, search_vector<entry>>;
  using bucket_map = std::map<key, search_vector<entry>, std::less<key>, search_allocator<bucket>>;

  bucket_map buckets_;
  std::array<bucket*, 32> recent_{};  // where entries went of late, by the key; null or in the map
  std::size_t size_ = 0;
  search_control& control_;
};

}  // namespace tandem::inline v0::detail
