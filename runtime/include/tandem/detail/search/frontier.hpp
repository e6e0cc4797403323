// frontier.hpp: a breadth-first search from some roots: what was seen, and its outermost level.
// SPDX-License-Identifier: MIT
//
// The frontier of depth d is all positions d moves away from the nearest root. In each partition
// these are the last ones that were entered, one after the other in memory, so the frontier is two
// numbers for each, and nothing is put together between two levels.
//
// A level is searched in rounds, in each of which all tasks expand (searching/expand), and then
// enter what they have reached (searching/enter). A round is so short that what was reached and not
// entered yet stays in the cache, and takes little memory whatever the level's length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tandem/detail/search/candidate_row.hpp>
#include <tandem/detail/search/expand.hpp>
#include <tandem/detail/search/search_crew.hpp>
#include <tandem/detail/search/seen_shard.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

/// A task's own, while it expands a part of a frontier, and then enters a partition.
template <puzzle P>
class frontier_part : public crew_part {
 public:
  frontier_part(search_control& control, std::size_t number, unsigned workers)
      : crew_part(number), reached(control, partitioning(workers)) {}

  candidate_row<reached_position<P, search_node<P>>> reached;

  // The piece: positions of the level, or candidates of a row, of those that are for `partition`.
  std::size_t next = 0;
  std::size_t last = 0;
  std::size_t row = 0;
  std::size_t partition = 0;
};

template <puzzle P>
class frontier {
 public:
  using node = search_node<P>;
  using part = frontier_part<P>;
  using crew = search_crew<part>;

  frontier(search_control& control, unsigned workers);

  /// Before the first level. nullptr if it is there already.
  const node* add_root(const P& puzzle, const typename P::position& at);

  /// Expands the level, and goes on to the next one. Calls `visit(position, candidate, node)` for
  /// each new one, by several tasks at once. What is thrown ends the search.
  template <class Visit>
  static task<void> search_level(frontier& self, const P& puzzle, crew& workers, Visit& visit);

  /// By several threads at once while nobody searches a level.
  const node* find(std::uint64_t hash, const kept_position<P>& at) const {
    return partitions_[by_.of(hash)]->seen.find(hash, at);
  }

  /// Positions of the outermost level.
  std::size_t level_size() const noexcept { return begins_.back(); }
  /// Of the outermost level that has a position.
  std::uint64_t depth() const noexcept { return depth_; }
  /// Of all levels; while nobody searches.
  std::uint64_t size() const noexcept;
  std::size_t bytes() const noexcept;

 private:
  // searching/enter: one task's at a time.
  class partition {
   public:
    explicit partition(search_control& control) : seen(control) {}

    seen_shard<P> seen;
    // Of the level: node numbers of `seen`.
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  class expansion;
  template <class Visit>
  class entry;

  std::uint32_t expand_some(const P& puzzle, part& own, std::uint32_t most);
  void begin_round(std::size_t expanded, crew& workers) noexcept;
  std::size_t end_expansion(std::size_t& expanded, crew& workers) noexcept;
  void begin_level() noexcept;

  static constexpr std::size_t shortest_piece = 32;

  const partitioning by_;
  std::vector<std::unique_ptr<partition>> partitions_;
  std::vector<std::size_t> begins_;  // of each partition's part of the level; the last: its length
  std::size_t round_end_ = 0;        // the positions before are expanded in this round
  double reached_by_each_ = 4;       // in the round before
  std::uint64_t depth_ = 0;
};

// Implementation

template <puzzle P>
frontier<P>::frontier(search_control& control, unsigned workers)
    : by_(workers), begins_(by_.count() + 1) {
  partitions_.reserve(by_.count());
  for (std::size_t i = 0; i < by_.count(); ++i) {
    partitions_.push_back(std::make_unique<partition>(control));
  }
}

template <puzzle P>
auto frontier<P>::add_root(const P& puzzle, const typename P::position& at) -> const node* {
  const std::uint64_t hash = mixed_hash(puzzle, at);
  const std::size_t where = by_.of(hash);
  const node* root = partitions_[where]->seen.insert(hash, keep(puzzle, at));
  if (root == nullptr) return nullptr;
  ++partitions_[where]->last;
  for (std::size_t i = where + 1; i < begins_.size(); ++i) ++begins_[i];
  return root;
}

/// searching/expand
template <puzzle P>
class frontier<P>::expansion {
 public:
  expansion(frontier& searched, const P& puzzle, crew& workers) noexcept
      : of_(searched), puzzle_(puzzle), crew_(workers) {}

  static constexpr bool ends_round = false;

  bool claim(part& own) {
    if (own.reached.size() >= 2 * round_length) return false;  // many more than were expected
    const std::size_t taken = crew_.cursor.taken();            // a hint
    const std::size_t left = taken < of_.round_end_ ? of_.round_end_ - taken : 0;
    const std::size_t fair = (std::max)(left / (2 * crew_.workers()), shortest_piece);
    const std::size_t length = std::min<std::size_t>(own.pacer.stride(), fair);
    own.next = crew_.cursor.take(length);
    own.last = (std::min)(own.next + length, of_.round_end_);
    return own.next < own.last;
  }
  std::uint32_t advance(part& own, std::uint32_t most) {
    return of_.expand_some(puzzle_, own, most);
  }

 private:
  frontier& of_;
  const P& puzzle_;
  crew& crew_;
};

/// searching/enter
template <puzzle P>
template <class Visit>
class frontier<P>::entry {
 public:
  entry(frontier& searched, const P& puzzle, crew& workers, Visit& visit) noexcept
      : of_(searched), puzzle_(puzzle), crew_(workers), visit_(visit) {}

  static constexpr bool ends_round = true;

  bool claim(part& own) {
    own.partition = crew_.cursor.take(1);
    own.row = 0;
    own.next = 0;
    return own.partition < of_.partitions_.size();
  }
  std::uint32_t advance(part& own, std::uint32_t most) {
    for (; own.row < crew_.parts().size(); ++own.row) {
      auto& reached = crew_.parts()[own.row]->reached.of_partition(own.partition);
      const std::size_t first = own.next;
      const std::size_t last = std::min<std::size_t>(reached.size(), first + most);
      if (first != last) {
        enter(own, reached, first, last);
        own.next = last;
        return static_cast<std::uint32_t>(last - first);
      }
      reached.clear();
      own.next = 0;
    }
    return 0;
  }

 private:
  using buffer = typename candidate_row<reached_position<P, search_node<P>>>::buffer;

  void enter(part& own, buffer& reached, std::size_t first, std::size_t last) {
    seen_shard<P>& seen = of_.partitions_[own.partition]->seen;
    const std::size_t size = reached.size();
    seen.prefetch_all(reached, first, first == 0 ? ahead : 0);
    for (std::size_t i = first; i < last; ++i) {
      if (i + ahead < size) seen.prefetch(reached[i + ahead].hash);
      reached_position<P, search_node<P>>& each = reached[i];
      const node* added = seen.insert(each.hash, each.kept(puzzle_), each.from);
      if (added == nullptr) continue;
      ++own.found;
      visit_(each.position_in(*added), each, added);
    }
  }

  static constexpr std::size_t ahead = 8;

  frontier& of_;
  const P& puzzle_;
  crew& crew_;
  Visit& visit_;
};

template <puzzle P>
template <class Visit>
task<void> frontier<P>::search_level(frontier& self, const P& puzzle, crew& workers, Visit& visit) {
  std::size_t expanded = 0;
  while (expanded < self.level_size() && workers.control().running()) {
    self.begin_round(expanded, workers);
    expansion expand(self, puzzle, workers);
    co_await crew::run(workers, expand, self.round_end_ - expanded, expanded);
    const std::size_t reached = self.end_expansion(expanded, workers);
    if (reached == 0) continue;
    entry<Visit> enter(self, puzzle, workers, visit);
    co_await crew::run(workers, enter, reached, 0);
  }
  self.begin_level();
}

/// searching/round
template <puzzle P>
void frontier<P>::begin_round(std::size_t expanded, crew& workers) noexcept {
  for (const auto& each : workers.parts()) each->reached.begin_phase();
  // However many moves the positions before had, a round gets on.
  const auto length = (std::max)(static_cast<std::size_t>(static_cast<double>(round_length) *
                                                          workers.workers() / reached_by_each_),
                                 std::size_t{workers.workers()});
  const std::size_t left = level_size() - expanded;
  round_end_ = left <= length + length / 2 ? level_size() : expanded + length;
}

/// Counts what was reached. `expanded` is brought up to date.
template <puzzle P>
std::size_t frontier<P>::end_expansion(std::size_t& expanded, crew& workers) noexcept {
  // Somebody has claimed, and thus expanded, each position before the cursor.
  const std::size_t end = (std::min)(workers.cursor.taken(), round_end_);
  if (end == expanded) return 0;  // the search has ended
  std::size_t reached = 0;
  for (const auto& each : workers.parts()) reached += each->reached.size();
  const auto by_each = static_cast<double>(reached) / static_cast<double>(end - expanded);
  reached_by_each_ = (std::max)(by_each, 0.5);
  expanded = end;
  return reached;
}

template <puzzle P>
std::uint32_t frontier<P>::expand_some(const P& puzzle, part& own, std::uint32_t most) {
  const std::size_t last = (std::min)(own.next + most, own.last);
  const auto count = static_cast<std::uint32_t>(last - own.next);
  auto end = std::upper_bound(begins_.begin(), begins_.end(), own.next);
  while (own.next < last) {
    while (*end <= own.next) ++end;  // partitions that have no part of the level
    const auto where = static_cast<std::size_t>(end - begins_.begin()) - 1;
    const partition& from = *partitions_[where];
    const std::uint64_t first = from.first - begins_[where];
    for (const std::size_t until = (std::min)(last, *end); own.next < until; ++own.next) {
      expand(puzzle, from.seen.node_at(first + own.next), own.reached);
    }
  }
  return count;
}

template <puzzle P>
void frontier<P>::begin_level() noexcept {
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    partition& each = *partitions_[i];
    each.first = each.last;
    each.last = each.seen.size();
    begins_[i + 1] = begins_[i] + (each.last - each.first);
  }
  if (level_size() != 0) ++depth_;
}

template <puzzle P>
std::uint64_t frontier<P>::size() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& each : partitions_) sum += each->seen.size();
  return sum;
}

template <puzzle P>
std::size_t frontier<P>::bytes() const noexcept {
  std::size_t sum = 0;
  for (const auto& each : partitions_) sum += each->seen.bytes();
  return sum;
}

}  // namespace tandem::inline v0::detail
