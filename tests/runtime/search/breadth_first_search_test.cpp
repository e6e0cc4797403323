// breadth_first_search_test.cpp: laws of breadth_first_search.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

TEST(breadth_first, path_is_shortest) {
  for (const std::string_view start : farthest_eights) {
    EXPECT_EQ(solve_on<solver::breadth_first>(2, eight_puzzle(std::string(start))).path.size(),
              31U);
  }
  EXPECT_EQ(solve_on<solver::breadth_first>(2, eight_puzzle("123456708")).path.size(), 1U);
}

TEST(breadth_first, visits_the_known_number_of_positions_at_every_depth) {
  std::vector<std::uint64_t> by_depth{1,     2,     4,     8,     16,    20,    39,    62,
                                      116,   152,   286,   396,   748,   1024,  1893,  2512,
                                      4485,  5638,  9529,  10878, 16993, 17110, 23952, 20224,
                                      24047, 15578, 14560, 6274,  3910,  760,   221,   2};
  if (sanitized) by_depth.resize(20);  // that is a fifth of the positions
  std::vector<std::uint64_t> found;
  std::uint64_t before = 0;
  for (std::size_t depth = 0; depth < by_depth.size(); ++depth) {
    const shallow<eight_puzzle> puzzle(eight_puzzle("123456780"), static_cast<int>(depth));
    const std::uint64_t nodes = solve_on<solver::breadth_first>(2, puzzle).nodes;
    found.push_back(nodes - before);
    before = nodes;
  }
  EXPECT_EQ(found, by_depth);
}

TEST(breadth_first, visits_the_same_number_of_positions_in_every_run) {
  std::set<std::uint64_t> nodes;
  for (const unsigned threads : {1U, 2U, 4U, 2U, 4U}) {
    nodes.insert(solve_on<solver::breadth_first>(threads, eight_puzzle("023156478")).nodes);
  }
  EXPECT_EQ(nodes.size(), 1U);
}

/// The 8-puzzle with a codec: the digits as a number. Its positions have no hash of their own.
class packed_eight {
 public:
  class position {
   public:
    explicit position(std::string digits) : tiles(std::move(digits)) {}
    bool operator==(const position&) const = default;

    std::string tiles;
  };
  using move = char;

  explicit packed_eight(std::string start) : base_(std::move(start)) {}

  position initial() const { return position(base_.initial()); }
  bool is_goal(const position& at) const { return base_.is_goal(at.tiles); }
  std::vector<move> legal_moves(const position& at) const { return base_.legal_moves(at.tiles); }
  position apply(const position& at, move tile) const {
    return position(base_.apply(at.tiles, tile));
  }
  move inverse(const position&, move tile) const { return tile; }
  std::vector<position> goals() const { return {position("123456780")}; }
  std::uint32_t pack(const position& at) const {
    return static_cast<std::uint32_t>(std::stoul(at.tiles));
  }
  position unpack(std::uint32_t packed) const {
    const std::string digits = std::to_string(packed);
    return position(digits.size() < 9 ? std::string("0").append(digits) : digits);
  }

 private:
  eight_puzzle base_;
};

TEST(search, puzzle_with_a_codec_is_searched_as_one_without) {
  static_assert(packed_puzzle<packed_eight>);
  for (const std::string_view start : farthest_eights) {
    const packed_eight puzzle{std::string(start)};
    for (const solver which : two_way_solvers) {
      const auto found = solve_on(2, puzzle, which);
      ASSERT_TRUE(found.solved()) << name_of(which);
      EXPECT_TRUE(leads_to_goal(puzzle, found.path)) << name_of(which);
    }
    const auto shortest = solve_on<solver::breadth_first>(2, puzzle);
    EXPECT_EQ(shortest.path.size(), 31U);
    EXPECT_EQ(shortest.nodes, reachable_eights);
    EXPECT_LE(shortest.bytes_per_position(), 16 + 15 + 3);
  }
}

TEST(breadth_first, tells_cost_and_depth) {
  const auto found = solve_on<solver::breadth_first>(2, eight_puzzle("867254301"));
  EXPECT_EQ(found.cost, 31U);
  EXPECT_EQ(found.depth, 31U);
  EXPECT_EQ(solve_on<solver::breadth_first>(2, unsolvable()).depth, 31U);
  EXPECT_EQ(solve_on<solver::breadth_first>(2, eight_puzzle("123456780")).depth, 0U);
}

// Answers as it likes: what was a way is none the next time.
class fickle {
 public:
  using position = int;
  using move = int;
  int initial() const { return 0; }
  bool is_goal(int at) const { return at == 5; }
  std::vector<int> legal_moves(int) const { return {1}; }
  int apply(int at, int by) const {
    if (at == 4) is_over = true;
    return is_over && at != 4 ? at : at + by;
  }
  mutable std::atomic<bool> is_over{false};
};

TEST(search, puzzle_that_changes_its_mind_is_an_error) {
  for (const solver which : path_solvers) {
    EXPECT_THROW((void)solve_on(2, fickle(), which), puzzle_error) << name_of(which);
  }
}

}  // namespace
