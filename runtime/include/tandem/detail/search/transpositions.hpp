// transpositions.hpp: what an iterative deepening remembers of positions, if it is to.
// SPDX-License-Identifier: MIT
//
// Of each position: the least cost at which any iteration has reached it, and the last iteration
// that searched it. From a position that is reached at a higher cost nothing is searched: whatever
// lies on a cheapest path is reached at its least cost in this iteration, too, since that way was
// within the bound before. At the same cost it is searched once in each iteration. So an iteration
// expands a position about once, whatever cycles the graph has.
//
// What is cut off by the bound counts for the next one only if it was not reached at that cost or
// less. So a graph without a goal comes to an iteration that cuts nothing off, unless the table is
// full: then further positions are not remembered, and searched as often as they are reached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tandem/detail/search/search_node.hpp>
#include <tandem/detail/search/seen_set.hpp>
#include <tandem/search/options.hpp>

namespace tandem::inline v0::detail {

/// A search that remembers nothing.
class no_transpositions {
 public:
  static constexpr bool remembers = false;

  template <class P>
  no_transpositions(const P& /*puzzle*/, search_control& /*control*/, unsigned /*parallelism*/) {}

  template <class Position>
  void begin_iteration(const Position& /*root*/) noexcept {}
  void count(search_summary& /*summary*/) const noexcept {}
};

/// Written and read under the shard's lock.
template <class Cost>
class deepening_mark {
 public:
  deepening_mark(Cost reached_at, std::uint32_t searched_in) noexcept
      : cost(reached_at), iteration(searched_in) {}

  Cost cost;
  std::uint32_t iteration;
};

template <puzzle P>
class transpositions {
 public:
  static constexpr bool remembers = true;
  using cost_type = std::conditional_t<weighted_puzzle<P>, std::uint64_t, std::uint32_t>;
  using mark = deepening_mark<cost_type>;

  transpositions(const P& puzzle, search_control& control, unsigned parallelism)
      : puzzle_(puzzle),
        seen_(control, width_for(bytes_for(control), parallelism)),
        bytes_per_shard_(bytes_for(control) / seen_.shard_count()) {}

  /// Not while an iteration runs.
  void begin_iteration(const typename P::position& root) {
    ++iteration_;
    (void)is_news(root, 0);
  }

  /// Whether a position that has been reached is to be searched.
  bool is_news(const typename P::position& at, cost_type cost) {
    kept_position<P> kept = keep(puzzle_, at);
    const std::uint64_t hash = mixed_hash(puzzle_, at);
    bool news = true;
    seen_.with_shard(seen_.shard_of(hash), [&](auto& shard) {
      if (shard.bytes_with_one_more() <= bytes_per_shard_) {
        const auto [found, added] =
            shard.find_or_insert(hash, std::move(kept), nullptr, cost, iteration_);
        news = added || better(found->payload, cost);
      } else if (auto* known = shard.find(hash, kept)) {
        news = better(known->payload, cost);
      }
    });
    return news;
  }

  /// Whether a position that the bound cut off has never been reached at so little.
  bool is_missed(const typename P::position& at, cost_type cost) {
    const kept_position<P> kept = keep(puzzle_, at);
    const std::uint64_t hash = mixed_hash(puzzle_, at);
    bool missed = true;
    seen_.with_shard(seen_.shard_of(hash), [&](const auto& shard) {
      const auto* known = shard.find(hash, kept);
      missed = known == nullptr || known->payload.cost > cost;
    });
    return missed;
  }

  void count(search_summary& summary) const { count_seen(summary, seen_); }

 private:
  // A shard that has less than this keeps next to nothing.
  static constexpr std::size_t least_shard_bytes = 8192;

  /// Half of the memory there may be is for the open positions, and for tables that grow.
  static std::size_t bytes_for(const search_control& control) {
    const std::size_t bytes = control.options().transposition_bytes;
    const auto limit = control.options().memory_limit;
    return limit ? (std::min)(bytes, *limit / 2) : bytes;
  }
  /// As many shards as for so many tasks: 16 for each of them, one for a single one.
  static unsigned width_for(std::size_t bytes, unsigned parallelism) {
    const std::size_t most = bytes / least_shard_bytes / 32;
    return static_cast<unsigned>(std::clamp<std::size_t>(most, 1, (std::max)(parallelism, 1U)));
  }

  bool better(mark& known, cost_type cost) const noexcept {
    if (cost > known.cost || (cost == known.cost && known.iteration == iteration_)) return false;
    known = mark(cost, iteration_);
    return true;
  }

  const P& puzzle_;
  seen_set<P, mark> seen_;
  const std::size_t bytes_per_shard_;
  std::uint32_t iteration_ = 0;
};

}  // namespace tandem::inline v0::detail
