// question.cpp: canonical requests, their keys, and both sides in a few words.
// SPDX-License-Identifier: MIT
#include "question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "klotski_board.hpp"
#include "rush_hour_board.hpp"
#include "sliding.hpp"
#include "sudoku_grid.hpp"
#include "uts.hpp"

namespace service {

namespace {

using nlohmann::ordered_json;
using puzzles::puzzle_kind;
using puzzles::solve_request;

/// The rows of a drawing, joined by '/'.
std::string rows_of(std::string drawing) {
  if (drawing.ends_with('\n')) drawing.pop_back();
  std::replace(drawing.begin(), drawing.end(), '\n', '/');
  return drawing;
}

std::string klotski_rows(const solve_request& request) {
  const auto board = request.board.empty() ? puzzles::klotski_board::classic()
                                           : puzzles::klotski_board::parse(request.board);
  return rows_of(board.draw());
}

std::string rush_hour_rows(const solve_request& request) {
  return rows_of(puzzles::rush_hour_board::parse(request.board).draw());
}

puzzles::sudoku_box box_of(const solve_request& request) {
  return request.box.empty() ? puzzles::sudoku_box() : puzzles::sudoku_box::parse(request.box);
}

/// Every cell, '.' for the empty ones.
std::string cells_of(const solve_request& request) {
  const puzzles::sudoku_box box = box_of(request);
  const bool is_empty = request.grid.empty();
  const auto grid =
      is_empty ? puzzles::sudoku_grid(box) : puzzles::sudoku_grid::parse(request.grid, box);
  std::string cells = grid.draw();
  std::erase_if(cells, [](char each) { return each == ' ' || each == '\n'; });
  return cells;
}

std::vector<int> goal_of(const solve_request& request) {
  return request.goal.empty() ? puzzles::default_goal(request.rows, request.cols) : request.goal;
}

std::uint32_t default_seed(const solve_request& request) {
  for (const puzzles::uts::tree& each : puzzles::uts::trees) {
    if (request.tree == each.name) return each.seed;
  }
  return 0;
}

ordered_json canonical(const solve_request& request) {
  ordered_json object = {{"puzzle", to_string(request.puzzle)},
                         {"solver", to_string(request.chosen_solver())}};
  switch (request.puzzle) {
    case puzzle_kind::sliding:
      object["rows"] = request.rows;
      object["cols"] = request.cols;
      object["start"] = request.start;
      object["goal"] = goal_of(request);
      break;
    case puzzle_kind::klotski:
      object["board"] = klotski_rows(request);
      object["metric"] = to_string(request.chosen_metric());
      break;
    case puzzle_kind::rush_hour:
      object["board"] = rush_hour_rows(request);
      object["metric"] = to_string(request.chosen_metric());
      break;
    case puzzle_kind::queens:
      object["n"] = request.n;
      object["count"] = request.count;
      break;
    case puzzle_kind::sudoku: {
      const puzzles::sudoku_box box = box_of(request);
      object["box"] = fmt::format("{}x{}", box.rows, box.cols);
      object["grid"] = cells_of(request);
      object["count"] = request.count;
      break;
    }
    case puzzle_kind::uts:
      object["tree"] = request.tree;
      object["seed"] = request.seed.value_or(default_seed(request));
      break;
  }
  return object;
}

/// So long that a line can show it.
std::string cut(std::string text) {
  constexpr std::size_t longest = 60;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

std::string subject_of(const solve_request& request) {
  switch (request.puzzle) {
    case puzzle_kind::sliding: {
      const bool is_usual = goal_of(request) == puzzles::default_goal(request.rows, request.cols);
      return fmt::format("{} x {} tiles {}{}", request.rows, request.cols,
                         cut(fmt::format("{}", fmt::join(request.start, " "))),
                         is_usual ? "" : ", another goal");
    }
    case puzzle_kind::klotski: return "Klotski " + klotski_rows(request);
    case puzzle_kind::rush_hour: return "Rush Hour " + rush_hour_rows(request);
    case puzzle_kind::queens:
      return fmt::format("{} queens, {}", request.n, request.count ? "all ways" : "one way");
    case puzzle_kind::sudoku: {
      const std::string cells = cells_of(request);
      const bool is_empty = cells.find_first_not_of('.') == std::string::npos;
      const puzzles::sudoku_box box = box_of(request);
      return fmt::format("Sudoku of {}x{} boxes {}{}", box.rows, box.cols,
                         is_empty ? "empty" : cut(cells), request.count ? ", all ways" : "");
    }
    case puzzle_kind::uts: {
      const bool is_usual = request.seed.value_or(default_seed(request)) == default_seed(request);
      return fmt::format("Unbalanced tree {}{}", request.tree,
                         is_usual ? "" : fmt::format(", seed {}", *request.seed));
    }
  }
  return {};
}

std::string counted(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string result_of(const solve_request& request, const puzzles::solve_answer& answer) {
  if (request.puzzle == puzzle_kind::uts) return counted(answer.nodes, "node");
  if (request.count) return counted(answer.solutions, "solution");
  if (!answer.solved || !answer.moves) return "no solution";
  switch (request.puzzle) {
    case puzzle_kind::queens: return counted(*answer.moves, "queen");
    case puzzle_kind::sudoku: return counted(*answer.moves, "digit");
    case puzzle_kind::klotski:
    case puzzle_kind::rush_hour: {
      const bool steps = request.chosen_metric() == puzzles::metric::steps;
      return counted(*answer.moves, steps ? "step" : "move");
    }
    default: return counted(*answer.moves, "move");
  }
}

/// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
template <class Iterator>
std::uint64_t hash_of(Iterator begin, Iterator end) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (; begin != end; ++begin) hash = (hash ^ static_cast<unsigned char>(*begin)) * 0x100000001b3;
  return hash;
}

}  // namespace

question::question(const puzzles::solve_request& request)
    : text(canonical(request).dump()), key(key_of(text)) {}

std::string key_of(std::string_view text) {
  // From both ends: each letter acts on either half by another power.
  return fmt::format("{:016x}{:016x}", hash_of(text.begin(), text.end()),
                     hash_of(text.rbegin(), text.rend()));
}

bool is_key(std::string_view text) noexcept {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

kept_answer made_to_keep(const question& asked, const puzzles::solve_request& request,
                         const puzzles::solve_answer& answer, std::string answer_json) {
  kept_answer made;
  made.key = asked.key;
  made.puzzle = to_string(request.puzzle);
  std::string solver(to_string(request.chosen_solver()));
  std::replace(solver.begin(), solver.end(), '_', ' ');
  made.title = subject_of(request) + ", " + solver;
  made.result = result_of(request, answer);
  made.moves = answer.moves;
  made.nodes = answer.nodes;
  made.milliseconds = answer.milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  made.solved_at = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  made.request = asked.text;
  made.answer = std::move(answer_json);
  return made;
}

}  // namespace service
