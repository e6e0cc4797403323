// solve_parts.hpp: what the parts of solve() share: one file for each puzzle, one task for each.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include <tandem/search.hpp>
#include <tandem/task.hpp>

#include "solve.hpp"
#include "thread_set.hpp"

namespace puzzles {

/// Checks what each puzzle can check of its own input.
void check_klotski(const solve_request& request);
void check_rush_hour(const solve_request& request);
void check_sudoku(const solve_request& request);
void check_uts(const solve_request& request);

/// Each solves on the worker pool, where it is called, and fills in the answer.
tandem::task<void> solve_sliding(const solve_request& request, solve_answer& answer);
tandem::task<void> solve_klotski(const solve_request& request, solve_answer& answer);
tandem::task<void> solve_rush_hour(const solve_request& request, solve_answer& answer);
tandem::task<void> solve_queens(const solve_request& request, solve_answer& answer);
tandem::task<void> solve_sudoku(const solve_request& request, solve_answer& answer);
tandem::task<void> solve_uts(const solve_request& request, solve_answer& answer);

using drawings = std::vector<std::string>;
drawings draw_sliding_path(const solve_request& request, const solve_answer& answer);
drawings draw_klotski_path(const solve_request& request, const solve_answer& answer);
drawings draw_rush_hour_path(const solve_request& request, const solve_answer& answer);
drawings draw_queens_path(const solve_request& request, const solve_answer& answer);
drawings draw_sudoku_path(const solve_request& request, const solve_answer& answer);

/// Limits and width as asked for. Counting by the sequential solver is counting by one task.
tandem::search_options options_of(const solve_request& request);
/// What every search tells.
void note_summary(solve_answer& answer, const tandem::search_summary& found);

/// A puzzle that notes which threads work on it.
template <tandem::puzzle P>
class observed : public P {
 public:
  observed(const P& puzzle, thread_set* threads) : P(puzzle), threads_(threads) {}

  auto legal_moves(const typename P::position& at) const {
    if (threads_ != nullptr) threads_->note();
    return P::legal_moves(at);
  }

 private:
  thread_set* threads_;
};

constexpr bool asks_for_estimates(solver_kind solver) noexcept {
  return solver == solver_kind::iterative_deepening || solver == solver_kind::best_first;
}

/// The search for a path by a solver that asks for estimates.
template <tandem::puzzle P>
tandem::task<tandem::search_result<P>> search_guided(const P& puzzle,
                                                     const solve_request& request) {
  tandem::search_options options = options_of(request);
  if (request.chosen_solver() == solver_kind::best_first) {
    co_return co_await tandem::best_first_search(puzzle, std::move(options));
  }
  co_return co_await tandem::iterative_deepening_search(puzzle, std::move(options));
}

/// The search for a path by another one. Goals cannot be named for every puzzle: validate() has
/// refused that.
template <tandem::puzzle P>
tandem::task<tandem::search_result<P>> search_blind(const P& puzzle, const solve_request& request) {
  tandem::search_options options = options_of(request);
  const solver_kind solver = request.chosen_solver();
  if (solver == solver_kind::sequential) {
    co_return co_await tandem::cooperative_search(puzzle, std::move(options));
  }
  if (solver == solver_kind::racing) {
    co_return co_await tandem::racing_search(puzzle, std::move(options));
  }
  if constexpr (tandem::two_way_puzzle<P>) {
    if (solver == solver_kind::bidirectional) {
      co_return co_await tandem::bidirectional_search(puzzle, std::move(options));
    }
  }
  co_return co_await tandem::breadth_first_search(puzzle, std::move(options));
}

template <tandem::puzzle P>
tandem::task<tandem::search_result<P>> search(const P& puzzle, const solve_request& request) {
  return asks_for_estimates(request.chosen_solver()) ? search_guided(puzzle, request)
                                                     : search_blind(puzzle, request);
}

template <class P>
void note(solve_answer& answer, const tandem::search_result<P>& found) {
  note_summary(answer, found);
  if (found.solved()) answer.moves = found.cost;
}

/// Draws a board before and after each move of a path, which the board can read.
template <class Board>
drawings draw_moves(Board board, const solve_answer& answer) {
  drawings drawn{board.draw()};
  for (const std::string& each : std::get<std::vector<std::string>>(answer.path)) {
    board.apply(board.parse_move(each));
    drawn.push_back(board.draw());
  }
  return drawn;
}

/// A path in the words of a board.
template <class Board, class Moves>
std::vector<std::string> describe_moves(Board board, const Moves& moves) {
  std::vector<std::string> path;
  for (const auto& each : moves) {
    path.push_back(board.describe(each));
    board.apply(each);
  }
  return path;
}

}  // namespace puzzles
