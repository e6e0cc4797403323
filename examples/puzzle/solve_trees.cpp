// solve_trees.cpp: solves, counts and draws what is a tree: queens, Sudoku, unbalanced trees.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "queens.hpp"
#include "solve_parts.hpp"
#include "sudoku.hpp"
#include "uts.hpp"

namespace puzzles {

namespace {

sudoku_grid grid_of(const solve_request& request) {
  const sudoku_box box = request.box.empty() ? sudoku_box() : sudoku_box::parse(request.box);
  if (request.grid.empty() && request.count) return sudoku_grid(box);
  return sudoku_grid::parse(request.grid, box);
}

uts::tree tree_of(const solve_request& request) {
  for (uts::tree tree : uts::trees) {
    if (request.tree != tree.name) continue;
    if (request.seed) tree.seed = *request.seed;
    return tree;
  }
  throw std::invalid_argument(
      fmt::format("unknown tree {} (T1, T2, T3, T4, T5)", in_quotes(request.tree)));
}

template <unsigned Side>
tandem::task<void> solve_grid(const solve_request& request, const sudoku_grid& grid,
                              solve_answer& answer) {
  const observed puzzle(sudoku_puzzle<Side>(grid), request.threads);
  if (request.count) {
    note_summary(answer, co_await tandem::count_solutions(puzzle, options_of(request)));
    answer.solutions *= puzzle.exchanges();
    co_return;
  }
  const auto found = co_await search(puzzle, request);
  note(answer, found);
  if (!found.solved()) {
    answer.path = std::vector<std::string>();
    co_return;
  }
  const std::vector<sudoku_fill> fills = puzzle.all_fills(found.path);
  answer.path = describe_moves(grid, fills);
  answer.moves = fills.size();
}

}  // namespace

void check_sudoku(const solve_request& request) { (void)grid_of(request); }
void check_uts(const solve_request& request) { (void)tree_of(request); }

tandem::task<void> solve_queens(const solve_request& request, solve_answer& answer) {
  const observed puzzle(queens_puzzle(request.n), request.threads);
  if (request.count) {
    note_summary(answer, co_await tandem::count_solutions(puzzle, options_of(request)));
    co_return;
  }
  const auto found = co_await search(puzzle, request);
  note(answer, found);
  answer.path = std::vector<int>(found.path.begin(), found.path.end());
}

tandem::task<void> solve_sudoku(const solve_request& request, solve_answer& answer) {
  const sudoku_grid grid = grid_of(request);
  if (grid.side() <= 6) {
    co_await solve_grid<6>(request, grid, answer);
  } else if (grid.side() <= 9) {
    co_await solve_grid<9>(request, grid, answer);
  } else if (grid.side() <= 16) {
    co_await solve_grid<16>(request, grid, answer);
  } else {
    co_await solve_grid<25>(request, grid, answer);
  }
}

tandem::task<void> solve_uts(const solve_request& request, solve_answer& answer) {
  const observed puzzle(uts_puzzle(tree_of(request)), request.threads);
  const tandem::tree_result found = co_await tandem::count_tree(puzzle, options_of(request));
  note_summary(answer, found);
  answer.solved = !answer.hit_limit();
  answer.leaves = found.leaves;
}

drawings draw_queens_path(const solve_request& request, const solve_answer& answer) {
  drawings drawn;
  const auto& columns = std::get<std::vector<int>>(answer.path);
  for (std::size_t rows = 0; rows <= columns.size(); ++rows) {
    drawn.push_back(draw_queens(
        request.n, {columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(rows)}));
  }
  return drawn;
}

drawings draw_sudoku_path(const solve_request& request, const solve_answer& answer) {
  return draw_moves(grid_of(request), answer);
}

}  // namespace puzzles
