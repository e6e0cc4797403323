// solve_boards.cpp: solves and draws Klotski and Rush Hour.
// SPDX-License-Identifier: MIT
#include "klotski.hpp"
#include "rush_hour.hpp"
#include "solve_parts.hpp"

namespace puzzles {

namespace {

klotski_board klotski_of(const solve_request& request) {
  return request.board.empty() ? klotski_board::classic() : klotski_board::parse(request.board);
}

template <class Puzzle, class Board>
tandem::task<void> solve_board(const solve_request& request, const Board& board,
                               solve_answer& answer) {
  const observed puzzle(Puzzle(board, request.chosen_metric()), request.threads);
  const auto found = co_await search(puzzle, request);
  note(answer, found);
  answer.path = describe_moves(board, found.path);
}

}  // namespace

void check_klotski(const solve_request& request) { (void)klotski_of(request); }
void check_rush_hour(const solve_request& request) { (void)rush_hour_board::parse(request.board); }

tandem::task<void> solve_klotski(const solve_request& request, solve_answer& answer) {
  const klotski_board board = klotski_of(request);
  co_await solve_board<klotski_puzzle>(request, board, answer);
}

tandem::task<void> solve_rush_hour(const solve_request& request, solve_answer& answer) {
  const rush_hour_board board = rush_hour_board::parse(request.board);
  co_await solve_board<rush_hour_puzzle>(request, board, answer);
}

drawings draw_klotski_path(const solve_request& request, const solve_answer& answer) {
  return draw_moves(klotski_of(request), answer);
}

drawings draw_rush_hour_path(const solve_request& request, const solve_answer& answer) {
  return draw_moves(rush_hour_board::parse(request.board), answer);
}

}  // namespace puzzles
