// search_partitions_stress.cpp: searches by partitions beside plain loops, on any number of tasks.
// SPDX-License-Identifier: MIT
//
// The laws: each position is expanded once and asked once whether it is a goal, whatever tasks and
// rounds there are; as many positions are visited as lie no farther than the goal; paths are
// shortest, or cheapest; an exception or a limit ends the search, and nobody is left inside. And
// beneath all of that: a cursor gives each number to one task.
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <stdexcept>
#include <tandem/run.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "sanitized.hpp"
#include "seeded.hpp"
#include "test_runtime.hpp"
#include "waits.hpp"

namespace {

using namespace tandem;

constexpr std::uint64_t nowhere = std::numeric_limits<std::uint64_t>::max();

/// Numbers; a move flips some bits. So each level is far longer than the one before: a search of
/// some levels, and of many rounds in each.
class flips {
 public:
  using position = std::uint32_t;
  using move = std::uint32_t;

  flips(std::mt19937_64& random, int bits) : salt_(random()), size_(std::size_t{1} << bits) {
    for (int i = 0; i < bits + 4; ++i) masks_.push_back(low(random()));
    start_ = low(random());
    goal_ = random() % 2 == 0 ? low(random()) : static_cast<position>(size_);  // out of reach
    clear();
  }

  void clear() {
    expanded = std::vector<std::atomic<std::uint32_t>>(size_);
    asked = std::vector<std::atomic<std::uint32_t>>(size_);
    calls = 0;
  }

  position initial() const { return start_; }
  bool is_goal(position at) const {
    if (at < size_) asked[at].fetch_add(1, std::memory_order_relaxed);
    return at == goal_;
  }
  const std::vector<move>& legal_moves(position at) const {
    if (at < size_) expanded[at].fetch_add(1, std::memory_order_relaxed);
    return masks_;
  }
  position apply(position at, move by) const {
    const std::uint64_t call = calls.fetch_add(1, std::memory_order_relaxed);
    if (call == throw_at) throw std::runtime_error("the puzzle is broken");
    if (test::mix(salt_ + call) % 10'000 == 0) std::this_thread::yield();
    return at ^ by;
  }
  move inverse(position, move by) const { return by; }
  std::vector<position> goals() const { return {goal_}; }
  std::uint32_t cost(position at, move by) const { return 1 + low(test::mix(at ^ by ^ salt_)) % 3; }
  /// No more than any move costs, and not consistent.
  std::uint32_t heuristic(position at) const { return at == goal_ ? 0 : test::mix(at) & 1; }

  position goal() const { return goal_; }
  std::size_t size() const { return size_; }

  mutable std::vector<std::atomic<std::uint32_t>> expanded;
  mutable std::vector<std::atomic<std::uint32_t>> asked;
  mutable std::atomic<std::uint64_t> calls{0};
  std::uint64_t throw_at = nowhere;

 private:
  position low(std::uint64_t bits) const { return static_cast<position>(bits & (size_ - 1)); }

  std::uint64_t salt_;
  std::size_t size_;
  std::vector<move> masks_;
  position start_ = 0;
  position goal_ = 0;
};

/// How far all positions are, where a move costs `price(at, by)`, by a plain loop.
template <class Price>
std::vector<std::uint64_t> distances(const flips& puzzle, Price price) {
  std::vector<std::uint64_t> found(puzzle.size(), nowhere);
  using entry = std::pair<std::uint64_t, flips::position>;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> open;
  open.emplace(0, puzzle.initial());
  while (!open.empty()) {
    const auto [distance, at] = open.top();
    open.pop();
    if (found[at] != nowhere) continue;
    found[at] = distance;
    for (const auto by : puzzle.legal_moves(at)) {
      if (found[at ^ by] == nowhere) open.emplace(distance + price(at, by), at ^ by);
    }
  }
  return found;
}

/// Of the goal.
std::uint64_t goal_in(const std::vector<std::uint64_t>& distances, const flips& puzzle) {
  return puzzle.goal() < distances.size() ? distances[puzzle.goal()] : nowhere;
}

/// Where a path ends.
flips::position end_of(const flips& puzzle, const std::vector<flips::move>& path) {
  flips::position at = puzzle.initial();
  for (const auto by : path) at ^= by;
  return at;
}

class searcher {
 public:
  explicit searcher(std::mt19937_64& random)
      : threads_(1 + static_cast<unsigned>(random() % 4)),
        options_(search_options().with_parallelism(static_cast<unsigned>(random() % 10))) {}

  search_options& options() noexcept { return options_; }
  template <class Search>
  search_result<flips> operator()(const flips& puzzle, Search search) const {
    return run(search(puzzle, options_), test::with_threads(threads_));
  }

 private:
  unsigned threads_;
  search_options options_;
};

constexpr auto breadth_first = [](const flips& puzzle, const search_options& options) {
  return breadth_first_search(puzzle, options);
};
constexpr auto both_ways = [](const flips& puzzle, const search_options& options) {
  return bidirectional_search(puzzle, options);
};
constexpr auto best_first = [](const flips& puzzle, const search_options& options) {
  return best_first_search(puzzle, options);
};

constexpr int bits = tandem::test::sanitized ? 14 : 17;

void visit_each_once(const flips& puzzle, const searcher& on) {
  const auto far = distances(puzzle, [](auto, auto) { return std::uint64_t{1}; });
  const std::uint64_t goal = goal_in(far, puzzle);
  std::uint64_t nearer = 0;
  std::vector<std::uint32_t> levels(far.size());
  for (std::size_t i = 0; i < far.size(); ++i) {
    if (far[i] != nowhere && far[i] <= goal) ++nearer;
    levels[i] = far[i] < goal ? 1 : 0;  // expanded, unless it is out of reach
  }
  const_cast<flips&>(puzzle).clear();
  const auto found = on(puzzle, breadth_first);
  ASSERT_EQ(found.nodes, nearer);
  ASSERT_EQ(found.solved(), goal != nowhere);
  if (found.solved()) {
    ASSERT_EQ(found.path.size(), goal);
    ASSERT_EQ(end_of(puzzle, found.path), puzzle.goal());
    flips::position at = puzzle.initial();
    for (const auto by : found.path) {  // whose moves were looked at once more
      --puzzle.expanded[at];
      at ^= by;
    }
  }
  for (std::size_t i = 0; i < far.size(); ++i) {
    const bool expanded = far[i] != nowhere && levels[i] != 0;
    ASSERT_EQ(puzzle.expanded[i], expanded ? 1U : 0U);
    ASSERT_EQ(puzzle.asked[i], far[i] != nowhere && far[i] <= goal ? 1U : 0U);
  }
  const auto met = on(puzzle, both_ways);
  ASSERT_EQ(met.solved(), found.solved());
  ASSERT_EQ(met.path.size(), found.path.size());
}

void pay_least(const flips& puzzle, const searcher& on) {
  const auto far =
      distances(puzzle, [&](auto at, auto by) { return std::uint64_t{puzzle.cost(at, by)}; });
  const std::uint64_t goal = goal_in(far, puzzle);
  const auto found = on(puzzle, best_first);
  ASSERT_EQ(found.solved(), goal != nowhere);
  if (!found.solved()) return;
  ASSERT_EQ(found.cost, goal);
  ASSERT_EQ(end_of(puzzle, found.path), puzzle.goal());
}

template <class Search>
void end_early(flips& puzzle, searcher& on, std::mt19937_64& random, Search search) {
  const std::uint64_t limit = 1 + random() % puzzle.size();
  on.options().node_limit = limit;
  const auto found = on(puzzle, search);
  ASSERT_TRUE(found.outcome != search_outcome::node_limit || found.positions_kept > limit);
  on.options().node_limit.reset();
  puzzle.clear();
  puzzle.throw_at = random() % (puzzle.size() * 10);
  try {
    const auto ended = on(puzzle, search);
    ASSERT_LE(puzzle.calls, puzzle.throw_at + 1'000);  // on the path it may throw, too
  } catch (const std::runtime_error&) {
    ASSERT_GT(puzzle.calls, puzzle.throw_at);
  }
}

TEST(search_partitions, each_piece_is_claimed_by_one_task) {
  test::stress_for(std::chrono::milliseconds(300), [](std::mt19937_64& random) {
    constexpr std::size_t size = 20'000;
    const std::size_t first = random() % 100;
    const std::size_t longest = 1 + random() % 20;
    std::vector<std::atomic<int>> claimed(first + size);
    detail::piece_cursor cursor;
    cursor.reset(false, first);
    test::latch all_here(4);
    {
      std::vector<std::jthread> team;
      for (unsigned t = 0; t < 4; ++t) {
        team.emplace_back([&, own = std::mt19937(static_cast<unsigned>(random()))]() mutable {
          all_here.arrive_and_wait();
          while (true) {
            const std::size_t count = 1 + own() % longest;
            const std::size_t begin = cursor.take(count);
            if (begin >= claimed.size()) return;
            const std::size_t end = std::min(begin + count, claimed.size());
            for (std::size_t i = begin; i < end; ++i) ++claimed[i];
          }
        });
      }
    }
    for (std::size_t i = 0; i < claimed.size(); ++i) ASSERT_EQ(claimed[i], i < first ? 0 : 1);
  });
}

TEST(search_partitions, each_position_is_entered_and_expanded_once_by_any_number_of_tasks) {
  test::stress([](std::mt19937_64& random) {
    const flips puzzle(random, 2 + static_cast<int>(random() % bits));
    visit_each_once(puzzle, searcher(random));
  });
}

TEST(search_partitions, the_cheapest_path_is_found_by_any_number_of_tasks) {
  test::stress([](std::mt19937_64& random) {
    const flips puzzle(random, 2 + static_cast<int>(random() % bits));
    pay_least(puzzle, searcher(random));
  });
}

TEST(search_partitions, searches_end_early_with_all_their_tasks) {
  test::stress([](std::mt19937_64& random) {
    flips puzzle(random, 2 + static_cast<int>(random() % bits));
    searcher on(random);
    switch (random() % 3) {
      case 0: end_early(puzzle, on, random, breadth_first); break;
      case 1: end_early(puzzle, on, random, both_ways); break;
      default: end_early(puzzle, on, random, best_first); break;
    }
  });
}

}  // namespace
