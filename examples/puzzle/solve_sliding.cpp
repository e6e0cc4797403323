// solve_sliding.cpp: solves and draws sliding boards.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "sliding.hpp"
#include "solve_parts.hpp"

namespace puzzles {

namespace {

template <class Tiles, guidance Guided>
observed<sliding_puzzle<Tiles, Guided>> puzzle_of(const solve_request& request) {
  const std::vector<int> goal =
      request.goal.empty() ? default_goal(request.rows, request.cols) : request.goal;
  return {sliding_puzzle<Tiles, Guided>(request.rows, request.cols, request.start, goal),
          request.threads};
}

template <class P>
void note_tiles(solve_answer& answer, const P& puzzle, const tandem::search_result<P>& found) {
  note(answer, found);
  std::vector<int> moved;
  auto at = puzzle.initial();
  for (const auto cell : found.path) {
    moved.push_back(static_cast<int>(at.tiles[cell]));
    at = puzzle.apply(at, cell);
  }
  answer.path = std::move(moved);
}

/// Positions carry an estimate only where it is asked for.
template <class Tiles>
tandem::task<void> solve_tiles(const solve_request& request, solve_answer& answer) {
  if (asks_for_estimates(request.chosen_solver())) {
    const auto puzzle = puzzle_of<Tiles, guidance::estimate>(request);
    note_tiles(answer, puzzle, co_await search_guided(puzzle, request));
  } else {
    const auto puzzle = puzzle_of<Tiles, guidance::none>(request);
    note_tiles(answer, puzzle, co_await search_blind(puzzle, request));
  }
}

}  // namespace

tandem::task<void> solve_sliding(const solve_request& request, solve_answer& answer) {
  if (request.rows * request.cols <= packed_tiles::max_cells) {
    co_await solve_tiles<packed_tiles>(request, answer);
  } else {
    co_await solve_tiles<byte_tiles>(request, answer);
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
