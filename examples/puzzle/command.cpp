// command.cpp: the options of puzzle, and the request that they make.
// SPDX-License-Identifier: MIT
#include "command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <limits>
#include <stdexcept>

#include "sudoku_grid.hpp"
#include "system.hpp"

namespace puzzles {

namespace {

constexpr unsigned most_threads = 1024;
constexpr const char* path_solvers =
    "sequential, racing, breadth_first, bidirectional, iterative_deepening or best_first";
constexpr const char* tree_solvers =
    "sequential, racing, breadth_first, iterative_deepening or best_first; default: racing";

/// A search that keeps too many positions would have the machine swap for hours.
std::uint64_t half_of_memory() {
  const std::uint64_t all = memory_bytes();
  return all != 0 ? all / 2 : std::uint64_t{1} << 32;
}

}  // namespace

command::command()
    : app("Solves sliding tiles, Klotski, Rush Hour, n queens and Sudoku, and counts unbalanced "
          "trees, with tandem's parallel searches.") {
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);
  add_sliding();
  add_klotski();
  add_rush_hour();
  add_queens();
  add_sudoku();
  add_uts();
}

solve_request command::request() const {
  solve_request made(puzzle_);
  if (!solver_.empty()) made.solver = parse_solver_kind(solver_);
  if (!metric_.empty()) made.counted = parse_metric(metric_);
  made.rows = rows_;
  made.cols = cols_;
  made.n = n_;
  made.count = count_;
  made.grid = grid_;
  made.box = box_;
  made.tree = tree_;
  if (seed_option_->count() > 0) made.seed = seed_;
  set_limits(made);
  if (puzzle_ == puzzle_kind::sliding) {
    made.start = parse_tiles("start", start_);
    if (goal_option_->count() > 0) {
      made.goal = parse_tiles("goal", goal_);
      if (made.goal.empty()) throw std::invalid_argument("goal: no tiles given");
    }
  }
  if (box_option_->count() > 0) (void)sudoku_box::parse(box_);
  if (grid_option_->count() > 0 && grid_.empty()) throw std::invalid_argument("grid: it is empty");
  if (puzzle_ == puzzle_kind::sudoku && grid_.empty() && !count_) {
    throw std::invalid_argument("grid: it is missing (only --count does without)");
  }
  if (!board_file_.empty()) made.board = read_board(board_file_);
  if (puzzle_ == puzzle_kind::rush_hour) made.board = board_ == "-" ? read_board(board_) : board_;
  validate(made);
  return made;
}

void command::set_limits(solve_request& made) const {
  constexpr std::int64_t mib = std::int64_t{1} << 20;
  const auto check = [](const char* name, auto given, auto most) {
    if (!given) return false;
    if (*given > 0 && *given <= most) return true;
    throw std::invalid_argument(
        fmt::format("{}: {} is not above 0 and at most {}", name, *given, most));
  };
  if (check("--node-limit", node_limit_, std::numeric_limits<std::int64_t>::max())) {
    made.node_limit = static_cast<std::uint64_t>(*node_limit_);
  }
  if (check("--time-limit", time_limit_s_, 1e6)) {
    const std::chrono::duration<double> seconds(*time_limit_s_);
    made.time_limit = std::chrono::ceil<std::chrono::milliseconds>(seconds);
  }
  if (check("--memory-limit", memory_limit_mib_, std::numeric_limits<std::int64_t>::max() / mib)) {
    made.memory_limit_bytes = static_cast<std::uint64_t>(*memory_limit_mib_ * mib);
  } else {
    made.memory_limit_bytes = half_of_memory();
  }
}

void command::add_sliding() {
  CLI::App* sub = app.add_subcommand("sliding", "sliding tiles on a board of any size");
  sub->add_option("--rows", rows_, "rows of the board")->required();
  sub->add_option("--cols", cols_, "columns of the board")->required();
  sub->add_option("--start", start_, "tiles row by row, 0 is the blank: \"8 6 7 2 5 4 3 0 1\"")
      ->required();
  goal_option_ = sub->add_option("--goal", goal_, "tiles of the goal; default: 1 2 .. 0");
  add_common(sub, puzzle_kind::sliding, path_solvers);
}

void command::add_klotski() {
  CLI::App* sub = app.add_subcommand("klotski", "Klotski, 4 wide and 5 high");
  sub->add_option("--board", board_file_,
                  "file with five rows separated by newlines or '/', a letter per piece, '.' "
                  "empty; - is stdin; default: Heng Dao Li Ma");
  add_metric(sub, "steps (one cell), the default, or moves (one piece, any way)");
  add_common(sub, puzzle_kind::klotski, path_solvers);
}

void command::add_rush_hour() {
  CLI::App* sub = app.add_subcommand("rush-hour", "Rush Hour, 6 x 6");
  sub->add_option("board", board_,
                  "36 cells row by row, perhaps with '/' between rows: a letter per car, A the red "
                  "one, o or . empty, x a wall; - is stdin")
      ->required();
  add_metric(sub, "moves (a slide of any distance), the default, or steps (one cell)");
  add_common(sub, puzzle_kind::rush_hour, path_solvers);
}

void command::add_queens() {
  CLI::App* sub = app.add_subcommand("queens", "n queens that do not attack each other");
  sub->add_option("n", n_, "size of the board, 1 to 32")->required();
  sub->add_flag("--count", count_, "count all solutions");
  add_common(sub, puzzle_kind::queens, tree_solvers);
}

void command::add_sudoku() {
  CLI::App* sub = app.add_subcommand("sudoku", "Sudoku, up to a side of 25");
  grid_option_ =
      sub->add_option("grid", grid_, "cells row by row: digits, letters from 10, '.' or 0 empty");
  box_option_ = sub->add_option("--box", box_, "rows x columns of a box; default: 3x3");
  sub->add_flag("--count", count_, "count all completions; without a grid, of the empty one");
  add_common(sub, puzzle_kind::sudoku, tree_solvers);
}

void command::add_uts() {
  CLI::App* sub = app.add_subcommand("uts", "Unbalanced Tree Search: counts a tree");
  sub->add_option("tree", tree_, "T1 to T5")->required();
  seed_option_ = sub->add_option("--seed", seed_, "another tree of the same law");
  add_common(sub, puzzle_kind::uts, "sequential is one task, any other as many as threads");
}

void command::add_metric(CLI::App* sub, const char* what) {
  sub->add_option("--metric", metric_, what);
}

void command::add_common(CLI::App* sub, puzzle_kind kind, const char* solvers) {
  sub->add_option("--solver", solver_, solvers);
  sub->add_option("--threads", threads, "worker threads; 0 is one per CPU, and the default")
      ->check(CLI::Range(0U, most_threads));
  sub->add_option("--node-limit", node_limit_, "positions to visit at most");
  sub->add_option("--time-limit", time_limit_s_, "seconds to search at most");
  sub->add_option("--memory-limit", memory_limit_mib_,
                  "MiB to keep positions in at most; default: half of the machine's memory");
  sub->add_flag("--show", show, "draw each position of the path");
  sub->add_flag("--json", json, "write one JSON object and nothing else to stdout");
  sub->add_flag("--progress", progress, "progress on stderr even if that is no terminal");
  sub->callback([this, kind] { puzzle_ = kind; });
}

std::string command::read_board(const std::string& name) const {
  std::ifstream file;
  if (name != "-") {
    file.open(name);
    if (!file) throw std::invalid_argument("board: cannot open " + in_quotes(name));
  }
  std::istream& in = name == "-" ? std::cin : file;
  std::string text;
  // A board has some 40 bytes; of anything else enough is read to complain about it.
  constexpr std::size_t most = 4096;
  text.resize(most);
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.empty()) throw std::invalid_argument("board: " + in_quotes(name) + " is empty");
  return text;
}

}  // namespace puzzles
