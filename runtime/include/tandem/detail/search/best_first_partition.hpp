// best_first_partition.hpp: a partition of a best-first search, and what its tasks work with.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <tandem/detail/search/candidate_row.hpp>
#include <tandem/detail/search/estimate.hpp>
#include <tandem/detail/search/open_list.hpp>
#include <tandem/detail/search/search_crew.hpp>
#include <tandem/detail/search/search_memory.hpp>
#include <tandem/detail/search/seen_shard.hpp>
#include <tandem/puzzle.hpp>

namespace tandem::inline v0::detail {

[[noreturn]] TANDEM_API void throw_estimate_at_goal(std::uint64_t estimate);

inline void check_goal_estimate(search_cost estimate) {
  if (estimate != 0) [[unlikely]]
    throw_estimate_at_goal(estimate);
}

/// A position that was reached at some cost.
template <puzzle P>
class paid_position : public reached_position<P, search_node<P, least_cost>> {
 public:
  using node = search_node<P, least_cost>;

  paid_position(const P& puzzle, typename P::position&& reached, const node* parent,
                std::uint64_t paid)
      : reached_position<P, node>(puzzle, std::move(reached), parent), cost(paid) {}

  std::uint64_t cost;
};

/// Its positions, and those of them that are open. Whoever has claimed it may change it in a phase;
/// between phases the solver reads it (searching/open).
template <puzzle P>
class best_first_partition {
 public:
  using node = search_node<P, least_cost>;
  using entry = open_entry<node>;
  using buffer = typename candidate_row<paid_position<P>>::buffer;

  explicit best_first_partition(search_control& control) : seen(control), open_(control) {}

  /// Of `reached` those from `first` to `last`. Opens what is new, or was reached at less cost than
  /// before, and promises less than `bound`.
  ///
  /// @returns             new positions
  std::uint64_t enter(const P& puzzle, buffer& reached, std::size_t first, std::size_t last,
                      std::uint64_t bound) {
    std::uint64_t added = 0;
    seen.prefetch_all(reached, first, first == 0 ? ahead : 0);
    for (std::size_t i = first; i < last; ++i) {
      if (i + ahead < reached.size()) seen.prefetch(reached[i + ahead].hash);
      paid_position<P>& each = reached[i];
      const auto [found, change] = seen.improve(each.hash, each.kept(puzzle), each.from, each.cost);
      if (change == seen_change::none) continue;
      if (change == seen_change::added) ++added;
      look_at(puzzle, each.position_in(*found), entry(found, each.cost), bound);
    }
    return added;
  }

  /// Looks at a position that was reached in no other way before at so little cost.
  void look_at(const P& puzzle, const typename P::position& at, const entry& reached,
               std::uint64_t bound) {
    const search_cost rest = estimate(puzzle, at);
    if (puzzle.is_goal(at)) {
      check_goal_estimate(rest);
      if (reached.cost >= goal_cost) return;
      goal_cost = reached.cost;
      goal = reached.node;
    } else if (rest < unreachable && reached.cost + rest < bound) {
      open_.push(reached, rest);
    }
  }

  /// Moves the most promising ones to `out`: open_list::take().
  void take(search_vector<entry>& out, std::uint64_t sum, std::uint64_t bound, std::size_t least,
            std::size_t most) {
    open_.take(out, sum, bound, least, most);
  }

  /// For the solver, up to date when the phase is over: what is open.
  void sum_up(std::size_t enough) noexcept {
    lowest = open_.lowest();
    lowest_count = open_.size_of_lowest(enough);
    open_count = open_.size();
  }

  static constexpr std::uint64_t no_cost = open_list<node>::nothing;

  seen_shard<P, least_cost> seen;
  const node* goal = nullptr;         // the cheapest one of this partition
  std::uint64_t goal_cost = no_cost;  // its cost

  std::uint64_t lowest = no_cost;  // f
  std::size_t lowest_count = 0;    // of that f
  std::size_t open_count = 0;

 private:
  static constexpr std::size_t ahead = 8;

  open_list<node> open_;
};

/// A task's own, while it expands what it has taken, and then enters a partition.
template <puzzle P>
class best_first_part : public crew_part {
 public:
  using entry = typename best_first_partition<P>::entry;

  best_first_part(search_control& control, std::size_t number, unsigned workers)
      : crew_part(number), reached(control, partitioning(workers)), batch(control) {}

  /// Reaches what is one move away from the next `most` of the batch, at less than `bound`.
  ///
  /// @returns             of how many
  std::uint32_t expand(const P& puzzle, std::uint32_t most, std::uint64_t bound) {
    const std::size_t first = next;
    next = std::min<std::size_t>(batch.size(), first + most);
    for (std::size_t i = first; i < next; ++i) {
      if (i + ahead < batch.size()) TANDEM_PREFETCH(batch[i + ahead].node);
      expand_entry(puzzle, batch[i], bound);
    }
    return static_cast<std::uint32_t>(next - first);
  }

  candidate_row<paid_position<P>> reached;
  search_vector<entry> batch;  // taken from the partition

  // The piece: of the batch, or of a row's candidates for `partition`.
  std::size_t next = 0;
  std::size_t row = 0;
  std::size_t partition = 0;

 private:
  void expand_entry(const P& puzzle, const entry& from, std::uint64_t bound) {
    if (from.node->payload.value < from.cost) return;  // reached at less since: that entry counts
    const auto& at = position_of(puzzle, *from.node);
    for (auto&& by : puzzle.legal_moves(at)) {
      const typename P::move& via = by;
      const std::uint64_t cost = from.cost + cost_of(puzzle, at, via);
      if (cost >= bound) continue;
      reached.emplace_back(puzzle, typename P::position(puzzle.apply(at, via)), from.node, cost);
    }
  }

  static constexpr std::size_t ahead = 4;
};

}  // namespace tandem::inline v0::detail
