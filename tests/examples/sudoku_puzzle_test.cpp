// sudoku_puzzle_test.cpp: Sudoku is counted and filled as a plain search does it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tandem/run.hpp>
#include <tandem/search.hpp>
#include <vector>

#include "sudoku.hpp"

namespace {

using namespace puzzles;

/// Completions by trying every digit in every empty cell, in reading order.
std::uint64_t completions(std::vector<int>& cells, sudoku_box box, std::size_t from = 0) {
  while (from < cells.size() && cells[from] >= 0) ++from;
  if (from == cells.size()) return 1;
  const unsigned side = box.side();
  std::uint64_t sum = 0;
  for (int digit = 0; digit < static_cast<int>(side); ++digit) {
    bool fits = true;
    for (std::size_t other = 0; other < cells.size(); ++other) {
      const auto row = static_cast<unsigned>(from) / side;
      const auto col = static_cast<unsigned>(from) % side;
      const auto other_row = static_cast<unsigned>(other) / side;
      const auto other_col = static_cast<unsigned>(other) % side;
      const bool shares = row == other_row || col == other_col ||
                          box.box_of(row, col) == box.box_of(other_row, other_col);
      fits = fits && !(shares && cells[other] == digit);
    }
    if (!fits) continue;
    cells[from] = digit;
    sum += completions(cells, box, from);
    cells[from] = -1;
  }
  return sum;
}

std::uint64_t plain_count(const sudoku_grid& grid) {
  std::vector<int> cells(grid.side() * grid.side(), -1);
  for (const sudoku_fill given : grid.givens()) cells[given.cell] = given.digit;
  return completions(cells, grid.box());
}

template <unsigned Side>
std::uint64_t count(const sudoku_grid& grid, unsigned tasks = 2) {
  const sudoku_puzzle<Side> puzzle(grid);
  const auto options = tandem::search_options().with_parallelism(tasks);
  return tandem::run(tandem::count_solutions(puzzle, options)).solutions * puzzle.exchanges();
}

TEST(sudoku_puzzle, empty_grids_have_288_and_28200960_completions) {
  for (const unsigned tasks : {1U, 2U, 4U}) {
    EXPECT_EQ(count<6>(sudoku_grid(sudoku_box(2, 2)), tasks), 288U);
    EXPECT_EQ(count<6>(sudoku_grid(sudoku_box(2, 3)), tasks), 28'200'960U);
    EXPECT_EQ(count<6>(sudoku_grid(sudoku_box(3, 2)), tasks), 28'200'960U);
  }
}

TEST(sudoku_puzzle, counts_what_a_plain_search_counts_whatever_is_given) {
  const sudoku_box four(2, 2);
  for (const char* text :
       {"1...............", "12..............", "...4.2.........1", "1234............",
        "12..34..........", "1..22...........", "123.4..........."}) {
    const sudoku_grid grid = sudoku_grid::parse(text, four);
    EXPECT_EQ(count<6>(grid), plain_count(grid)) << text;
    EXPECT_EQ(count<9>(grid), plain_count(grid)) << text;
    EXPECT_EQ(count<25>(grid), plain_count(grid)) << text;
  }
  const sudoku_grid six =
      sudoku_grid::parse("12345645612323....................6.", sudoku_box(2, 3));
  EXPECT_EQ(count<6>(six), plain_count(six));
  // Boxes that are rows: Latin squares.
  const sudoku_grid latin(sudoku_box(1, 4));
  EXPECT_EQ(count<6>(latin), 576U);
  EXPECT_EQ(plain_count(latin), 576U);
}

TEST(sudoku_puzzle, fills_of_a_path_fill_every_empty_cell_once_and_keep_the_rules) {
  const std::string_view text =
      "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..";
  const sudoku_grid grid = sudoku_grid::parse(text, sudoku_box(3, 3));
  const sudoku_puzzle<9> puzzle(grid);
  const auto found = tandem::run(tandem::racing_search(puzzle));
  ASSERT_TRUE(found.solved());
  std::string filled(text);
  for (const sudoku_fill each : puzzle.all_fills(found.path)) {
    ASSERT_EQ(filled[each.cell], '.');
    filled[each.cell] = static_cast<char>('1' + each.digit);
  }
  EXPECT_EQ(filled.find('.'), std::string::npos);
  EXPECT_NO_THROW((void)sudoku_grid::parse(filled, sudoku_box(3, 3)));
}

TEST(sudoku_puzzle, grid_without_a_completion_is_exhausted) {
  // r1c4 can be neither of 1, 2, 3 nor 4.
  const sudoku_grid grid = sudoku_grid::parse("123....4........", sudoku_box(2, 2));
  EXPECT_FALSE(tandem::run(tandem::racing_search(sudoku_puzzle<6>(grid))).solved());
  EXPECT_EQ(count<6>(grid), 0U);
}

TEST(sudoku_grid, describes_fills_and_reads_them_back) {
  const sudoku_grid grid(sudoku_box(4, 4));
  for (const sudoku_fill fill : {sudoku_fill(0, 0), sudoku_fill(17, 8), sudoku_fill(255, 15)}) {
    EXPECT_EQ(grid.parse_move(grid.describe(fill)), fill);
  }
  EXPECT_EQ(grid.describe(sudoku_fill(255, 15)), "r16c16=G");
  for (const char* wrong : {"", "r1c1", "r0c1=1", "r17c1=1", "r1c1=0", "r1c1=H", "r1c1=12"}) {
    EXPECT_THROW((void)grid.parse_move(wrong), std::invalid_argument) << wrong;
  }
}

}  // namespace
