// solve.cpp: from a request to an answer: picks puzzle and solver, renders the path.
// SPDX-License-Identifier: MIT
#include "solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tandem/environment.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <utility>

#include "klotski.hpp"
#include "queens.hpp"
#include "sliding.hpp"
#include "thread_set.hpp"

namespace puzzles {

namespace {

std::vector<int> goal_of(const solve_request& request) {
  return request.goal.empty() ? default_goal(request.rows, request.cols) : request.goal;
}

klotski_board board_of(const solve_request& request) {
  return request.board.empty() ? klotski_board::classic() : klotski_board::parse(request.board);
}

tandem::search_options options_of(const solve_request& request) {
  tandem::search_options options;
  if (request.node_limit != 0) options.with_node_limit(request.node_limit);
  if (request.time_limit.count() != 0) options.with_time_limit(request.time_limit);
  return options.with_parallelism(request.parallelism).with_progress(request.progress);
}

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

template <tandem::puzzle P>
tandem::task<tandem::search_result<P>> search(const P& puzzle, const solve_request& request) {
  switch (request.chosen_solver()) {
    case solver_kind::sequential:
      co_return co_await tandem::cooperative_search(puzzle, options_of(request));
    case solver_kind::racing: co_return co_await tandem::racing_search(puzzle, options_of(request));
    case solver_kind::breadth_first: break;
  }
  co_return co_await tandem::breadth_first_search(puzzle, options_of(request));
}

template <class P>
void note(solve_answer& answer, const tandem::search_result<P>& found) {
  answer.outcome = found.outcome;
  // A count that a limit cut off is no answer, however many it had found.
  answer.solved = found.solutions > 0 && found.outcome != tandem::search_outcome::node_limit &&
                  found.outcome != tandem::search_outcome::time_limit;
  if (found.solved()) answer.moves = found.path.size();
  answer.nodes = found.nodes;
  answer.solutions = found.solutions;
  answer.milliseconds = std::chrono::duration<double, std::milli>(found.elapsed).count();
}

template <class Tiles>
tandem::task<void> solve_sliding(const solve_request& request, solve_answer& answer) {
  const observed puzzle(sliding_puzzle<Tiles, guidance::none>(request.rows, request.cols,
                                                              request.start, goal_of(request)),
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

tandem::task<void> solve_klotski(const solve_request& request, solve_answer& answer) {
  klotski_board board = board_of(request);
  const observed puzzle(klotski_puzzle(board), request.threads);
  const auto found = co_await search(puzzle, request);
  note(answer, found);
  std::vector<std::string> steps;
  for (const klotski_move move : found.path) {
    steps.push_back(board.describe(move));
    board.apply(move);
  }
  answer.path = std::move(steps);
}

tandem::task<void> solve_queens(const solve_request& request, solve_answer& answer) {
  const observed puzzle(queens_puzzle(request.n), request.threads);
  if (request.count) {
    tandem::search_options options = options_of(request);
    if (request.chosen_solver() == solver_kind::sequential) options.parallelism = 1;
    note(answer, co_await tandem::count_solutions(puzzle, std::move(options)));
  } else {
    const auto found = co_await search(puzzle, request);
    note(answer, found);
    answer.path = std::vector<int>(found.path.begin(), found.path.end());
  }
}

bool is_packed(const solve_request& request) {
  return request.rows * request.cols <= packed_tiles::max_cells;
}

}  // namespace

std::string_view to_string(puzzle_kind kind) noexcept {
  switch (kind) {
    case puzzle_kind::sliding: return "sliding";
    case puzzle_kind::klotski: return "klotski";
    case puzzle_kind::queens: return "queens";
  }
  return "";
}

std::string_view to_string(solver_kind kind) noexcept {
  switch (kind) {
    case solver_kind::sequential: return "sequential";
    case solver_kind::racing: return "racing";
    case solver_kind::breadth_first: return "breadth_first";
  }
  return "";
}

puzzle_kind parse_puzzle_kind(std::string_view name) {
  for (const auto kind : {puzzle_kind::sliding, puzzle_kind::klotski, puzzle_kind::queens}) {
    if (name == to_string(kind)) return kind;
  }
  throw std::invalid_argument(
      fmt::format("unknown puzzle {} (sliding, klotski, queens)", in_quotes(name)));
}

solver_kind parse_solver_kind(std::string_view name) {
  for (const auto kind :
       {solver_kind::sequential, solver_kind::racing, solver_kind::breadth_first}) {
    if (name == to_string(kind)) return kind;
  }
  throw std::invalid_argument(
      fmt::format("unknown solver {} (sequential, racing, breadth_first)", in_quotes(name)));
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown = "'";
  for (const char c : text.substr(0, longest)) shown += c >= ' ' && c < 127 ? c : '?';
  return shown + (text.size() > longest ? "...'" : "'");
}

solver_kind solve_request::chosen_solver() const noexcept {
  const bool is_tree = puzzle == puzzle_kind::queens;
  return solver.value_or(is_tree ? solver_kind::racing : solver_kind::breadth_first);
}

void validate(const solve_request& request) {
  switch (request.puzzle) {
    case puzzle_kind::sliding:
      check_sliding(request.rows, request.cols, request.start, request.goal);
      break;
    case puzzle_kind::klotski: (void)board_of(request); break;
    case puzzle_kind::queens: (void)queens_puzzle(request.n); break;
  }
  if (request.time_limit.count() < 0) throw std::invalid_argument("time limit: below 0");
}

tandem::task<solve_answer> solve(solve_request request) {
  validate(request);
  solve_answer answer;
  answer.puzzle = request.puzzle;
  answer.solver = request.chosen_solver();
  tandem::worker_pool& workers = tandem::current_environment()->runtime()->workers();
  answer.threads = workers.size();
  co_await tandem::resume_on(workers);
  switch (request.puzzle) {
    case puzzle_kind::sliding:
      if (is_packed(request)) {
        co_await solve_sliding<packed_tiles>(request, answer);
      } else {
        co_await solve_sliding<byte_tiles>(request, answer);
      }
      break;
    case puzzle_kind::klotski: co_await solve_klotski(request, answer); break;
    case puzzle_kind::queens: co_await solve_queens(request, answer); break;
  }
  co_return answer;
}

std::vector<std::string> draw(const solve_request& request, const solve_answer& answer) {
  std::vector<std::string> drawings;
  switch (request.puzzle) {
    case puzzle_kind::sliding: {
      std::vector<int> tiles = request.start;
      drawings.push_back(draw_sliding(request.rows, request.cols, tiles));
      for (const int tile : std::get<std::vector<int>>(answer.path)) {
        std::iter_swap(std::find(tiles.begin(), tiles.end(), 0),
                       std::find(tiles.begin(), tiles.end(), tile));
        drawings.push_back(draw_sliding(request.rows, request.cols, tiles));
      }
      break;
    }
    case puzzle_kind::klotski: {
      klotski_board board = board_of(request);
      drawings.push_back(board.draw());
      for (const std::string& step : std::get<std::vector<std::string>>(answer.path)) {
        board.apply(board.parse_move(step));
        drawings.push_back(board.draw());
      }
      break;
    }
    case puzzle_kind::queens: {
      const auto& columns = std::get<std::vector<int>>(answer.path);
      for (std::size_t rows = 0; rows <= columns.size(); ++rows) {
        drawings.push_back(draw_queens(
            request.n, {columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(rows)}));
      }
      break;
    }
  }
  return drawings;
}

}  // namespace puzzles
