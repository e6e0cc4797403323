// solve.cpp: from a request to an answer: checks it, picks the puzzle, notes how it ended.
// SPDX-License-Identifier: MIT
#include "solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tandem/environment.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <utility>

#include "queens.hpp"
#include "sliding.hpp"
#include "solve_parts.hpp"

namespace puzzles {

namespace {

// Klotski and Rush Hour meet the same positions over and over: iterative deepening remembers them.
constexpr std::size_t transposition_bytes = std::size_t{256} << 20;

bool is_tree(puzzle_kind kind) noexcept {
  return kind == puzzle_kind::queens || kind == puzzle_kind::sudoku || kind == puzzle_kind::uts;
}

bool has_metric(puzzle_kind kind) noexcept {
  return kind == puzzle_kind::klotski || kind == puzzle_kind::rush_hour;
}

}  // namespace

solver_kind solve_request::chosen_solver() const noexcept {
  if (solver) return *solver;
  if (is_tree(puzzle)) return solver_kind::racing;
  const bool is_large = puzzle == puzzle_kind::sliding && rows * cols > 9;
  return is_large ? solver_kind::iterative_deepening : solver_kind::breadth_first;
}

metric solve_request::chosen_metric() const noexcept {
  return counted.value_or(puzzle == puzzle_kind::klotski ? metric::steps : metric::moves);
}

tandem::search_options options_of(const solve_request& request) {
  tandem::search_options options;
  if (request.node_limit != 0) options.with_node_limit(request.node_limit);
  if (request.time_limit.count() != 0) options.with_time_limit(request.time_limit);
  if (request.memory_limit_bytes != 0) options.with_memory_limit(request.memory_limit_bytes);
  options.with_parallelism(request.parallelism).with_progress(request.progress);
  if (request.is_count() && request.chosen_solver() == solver_kind::sequential) {
    options.with_parallelism(1);
  }
  if (has_metric(request.puzzle)) {
    const std::size_t most = request.memory_limit_bytes == 0
                                 ? transposition_bytes
                                 : std::size_t{request.memory_limit_bytes / 2};
    options.with_transpositions(std::min(transposition_bytes, most));
  }
  return options;
}

void note_summary(solve_answer& answer, const tandem::search_summary& found) {
  answer.outcome = found.outcome;
  // A count that a limit cut off is no answer, however many it had found.
  answer.solved = found.solutions > 0 && !tandem::is_limit(found.outcome);
  answer.nodes = found.nodes;
  answer.solutions = found.solutions;
  answer.depth = found.depth;
  answer.milliseconds = std::chrono::duration<double, std::milli>(found.elapsed).count();
  answer.nodes_per_second = found.nodes_per_second();
  answer.bytes_per_position = found.bytes_per_position();
  answer.end = found.describe();
}

void validate(const solve_request& request) {
  switch (request.puzzle) {
    case puzzle_kind::sliding:
      check_sliding(request.rows, request.cols, request.start, request.goal);
      break;
    case puzzle_kind::klotski: check_klotski(request); break;
    case puzzle_kind::rush_hour: check_rush_hour(request); break;
    case puzzle_kind::queens: (void)queens_puzzle(request.n); break;
    case puzzle_kind::sudoku: check_sudoku(request); break;
    case puzzle_kind::uts: check_uts(request); break;
  }
  if (request.counted && !has_metric(request.puzzle)) {
    throw std::invalid_argument(fmt::format("metric: {} has only one", to_string(request.puzzle)));
  }
  if (is_tree(request.puzzle) && request.solver == solver_kind::bidirectional) {
    throw std::invalid_argument(
        fmt::format("solver bidirectional: {} cannot name its goals: take another one",
                    to_string(request.puzzle)));
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
  request.parallelism = std::min(request.parallelism, answer.threads);
  co_await tandem::resume_on(workers);
  switch (request.puzzle) {
    case puzzle_kind::sliding: co_await solve_sliding(request, answer); break;
    case puzzle_kind::klotski: co_await solve_klotski(request, answer); break;
    case puzzle_kind::rush_hour: co_await solve_rush_hour(request, answer); break;
    case puzzle_kind::queens: co_await solve_queens(request, answer); break;
    case puzzle_kind::sudoku: co_await solve_sudoku(request, answer); break;
    case puzzle_kind::uts: co_await solve_uts(request, answer); break;
  }
  co_return answer;
}

std::vector<std::string> draw(const solve_request& request, const solve_answer& answer) {
  switch (request.puzzle) {
    case puzzle_kind::sliding: return draw_sliding_path(request, answer);
    case puzzle_kind::klotski: return draw_klotski_path(request, answer);
    case puzzle_kind::rush_hour: return draw_rush_hour_path(request, answer);
    case puzzle_kind::queens: return draw_queens_path(request, answer);
    case puzzle_kind::sudoku: return draw_sudoku_path(request, answer);
    case puzzle_kind::uts: break;
  }
  return {};
}

}  // namespace puzzles
