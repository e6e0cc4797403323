// solve_sliding.cpp: solves and draws sliding boards.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "sliding.hpp"
#include "solve_parts.hpp"

namespace puzzles {

namespace {

template <class Tiles, guidance Guided>
tandem::task<void> solve_with(const solve_request& request, solve_answer& answer) {
  const std::vector<int> goal =
      request.goal.empty() ? default_goal(request.rows, request.cols) : request.goal;
  const observed puzzle(
      sliding_puzzle<Tiles, Guided>(request.rows, request.cols, request.start, goal),
      request.threads);
  const auto found = co_await search(puzzle, request);
  note(answer, found);
  std::vector<int> moved;
  auto at = puzzle.initial();
  for (const auto cell : found.path) {
    moved.push_back(static_cast<int>(at.tiles[cell]));
    at = puzzle.apply(at, cell);
  }
  answer.path = std::move(moved);
}

}  // namespace

tandem::task<void> solve_sliding(const solve_request& request, solve_answer& answer) {
  const bool is_packed = request.rows * request.cols <= packed_tiles::max_cells;
  const solver_kind solver = request.chosen_solver();
  const bool is_guided =
      solver == solver_kind::iterative_deepening || solver == solver_kind::best_first;
  if (is_packed && is_guided) {
    co_await solve_with<packed_tiles, guidance::estimate>(request, answer);
  } else if (is_packed) {
    co_await solve_with<packed_tiles, guidance::none>(request, answer);
  } else if (is_guided) {
    co_await solve_with<byte_tiles, guidance::estimate>(request, answer);
  } else {
    co_await solve_with<byte_tiles, guidance::none>(request, answer);
  }
}

drawings draw_sliding_path(const solve_request& request, const solve_answer& answer) {
  std::vector<int> tiles = request.start;
  drawings drawn{draw_sliding(request.rows, request.cols, tiles)};
  for (const int tile : std::get<std::vector<int>>(answer.path)) {
    std::iter_swap(std::find(tiles.begin(), tiles.end(), 0),
                   std::find(tiles.begin(), tiles.end(), tile));
    drawn.push_back(draw_sliding(request.rows, request.cols, tiles));
  }
  return drawn;
}

}  // namespace puzzles
