// open_list.hpp: what a best-first search still has to expand, in order of what it promises.
// SPDX-License-Identifier: MIT
//
// Buckets in order of f = g + h, the cost of a path through the position if the estimate h is true,
// and within it of h: of two positions that promise the same, the one nearer to a goal comes first.
// Within a bucket the last one in is the first one out. Of a position that was reached again at
// less cost the older entry stays, and is known by its cost.
#pragma once

#include <algorithm>
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

  explicit open_list(search_control& control) : buckets_(control), control_(control) {}

  void push(const entry& what, search_cost estimate) {
    const key where(what.cost + estimate, estimate);
    if (last_ == nullptr || last_->first != where) {
      search_vector<entry> none(control_);
      last_ = &*buckets_.try_emplace(where, std::move(none)).first;
    }
    last_->second.push_back(what);
  }

  bool empty() const noexcept { return buckets_.empty(); }
  /// The lowest f there is.
  std::uint64_t lowest() const noexcept { return buckets_.begin()->first.sum; }

  /// Appends to `out` the most promising ones: up to `most` of the lowest f, and of higher ones
  /// only as long as there are fewer than `least`.
  void take(search_vector<entry>& out, std::size_t least, std::size_t most) {
    const std::uint64_t sum = lowest();
    while (!buckets_.empty()) {
      const auto best = buckets_.begin();
      const std::size_t wanted = best->first.sum == sum ? most : least;
      if (out.size() >= wanted) return;
      search_vector<entry>& bucket = best->second;
      const std::size_t count = (std::min)(bucket.size(), wanted - out.size());
      const auto first = bucket.end() - static_cast<std::ptrdiff_t>(count);
      out.insert(out.end(), first, bucket.end());
      bucket.erase(first, bucket.end());
      if (!bucket.empty()) return;
      if (last_ == &*best) last_ = nullptr;
      buckets_.erase(best);
    }
  }

 private:
  class key {
   public:
    key(std::uint64_t f, search_cost h) noexcept : sum(f), estimate(h) {}
    auto operator<=>(const key&) const = default;

    std::uint64_t sum;
    search_cost estimate;
  };
  using bucket_map = std::map<key, search_vector<entry>, std::less<key>,
                              search_allocator<std::pair<const key, search_vector<entry>>>>;

  bucket_map buckets_;
  typename bucket_map::value_type* last_ = nullptr;  // to which the last entry went
  search_control& control_;
};

}  // namespace tandem::inline v0::detail
