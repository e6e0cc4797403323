// best_first_part.hpp: what a task of a best-first search does with its share of a batch.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <tandem/detail/search/candidate_batch.hpp>
#include <tandem/detail/search/estimate.hpp>
#include <tandem/detail/search/expand.hpp>
#include <tandem/detail/search/level.hpp>
#include <tandem/detail/search/open_list.hpp>
#include <tandem/detail/search/search_memory.hpp>
#include <tandem/detail/search/seen_set.hpp>
#include <tandem/puzzle.hpp>

namespace tandem::inline v0::detail {

[[noreturn]] TANDEM_API void throw_estimate_at_goal(std::uint64_t estimate);

inline void check_goal_estimate(search_cost estimate) {
  if (estimate != 0) [[unlikely]]
    throw_estimate_at_goal(estimate);
}

template <puzzle P>
class best_first_part : public level_part {
 public:
  using node = search_node<P, least_cost>;
  using entry = open_entry<node>;

  /// A position that is to be put in order.
  class opening {
   public:
    opening(const entry& reached, search_cost rest) noexcept : what(reached), estimate(rest) {}

    entry what;
    search_cost estimate;
  };

  best_first_part(search_control& control, std::size_t number)
      : level_part(number), opened(control), goals(control), batch_(control) {}

  /// Reaches what is one move away from positions `first` to `last`, at less than `bound`.
  void expand(const P& puzzle, const search_vector<entry>& from, std::size_t first,
              std::size_t last, std::uint64_t bound) {
    batch_.reached.clear();
    for (std::size_t i = first; i < last; ++i) {
      if (i + prefetch_distance < last) TANDEM_PREFETCH(from[i + prefetch_distance].node);
      // Reached at less cost since: that entry counts.
      if (cost_now(*from[i].node) < from[i].cost) continue;
      const auto& at = position_of(puzzle, *from[i].node);
      for (auto&& by : puzzle.legal_moves(at)) {
        const typename P::move& via = by;
        const std::uint64_t cost = from[i].cost + cost_of(puzzle, at, via);
        if (cost >= bound) continue;
        batch_.reached.emplace_back(puzzle, typename P::position(puzzle.apply(at, via)),
                                    from[i].node, cost);
      }
    }
  }

  /// Enters what was reached. Notes what is new, or was reached at less cost than before.
  ///
  /// @returns             new positions
  std::uint64_t enter(const P& puzzle, seen_set<P, least_cost>& seen, std::size_t start,
                      std::uint64_t bound) {
    std::uint64_t added = 0;
    auto put = [&added](auto& shard, candidate& reached) -> const node* {
      const auto [found, change] =
          shard.improve(reached.hash, reached.kept(), reached.from, reached.cost);
      if (change == seen_change::added) ++added;
      return change == seen_change::none ? nullptr : found;
    };
    batch_.enter(seen, start, put, [&](const candidate& reached, const node* at) {
      const typename P::position& position = reached.position_in(*at);
      const search_cost rest = estimate(puzzle, position);
      if (puzzle.is_goal(position)) {
        check_goal_estimate(rest);
        goals.emplace_back(at, reached.cost);
      } else if (rest < unreachable && reached.cost + rest < bound) {
        opened.emplace_back(entry(at, reached.cost), rest);
      }
    });
    return added;
  }

  search_vector<opening> opened;
  search_vector<entry> goals;

 private:
  class candidate : public search_candidate<P, node> {
   public:
    candidate(const P& puzzle, typename P::position&& reached, const node* parent,
              std::uint64_t paid)
        : search_candidate<P, node>(puzzle, std::move(reached), parent), cost(paid) {}

    std::uint64_t cost;
  };

  /// searching/lower. Relaxed: an old one means work in vain.
  static std::uint64_t cost_now(const node& of) noexcept {
    return of.payload.value.load(std::memory_order_relaxed);
  }

  static constexpr std::size_t prefetch_distance = 4;

  candidate_batch<candidate, const node> batch_;
};

}  // namespace tandem::inline v0::detail
