// kinds.cpp: the names of puzzles, solvers and metrics.
// SPDX-License-Identifier: MIT
#include "kinds.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace puzzles {

namespace {

constexpr std::array puzzle_kinds{puzzle_kind::sliding,   puzzle_kind::klotski,
                                  puzzle_kind::rush_hour, puzzle_kind::queens,
                                  puzzle_kind::sudoku,    puzzle_kind::uts};
constexpr std::array solver_kinds{solver_kind::sequential,          solver_kind::racing,
                                  solver_kind::breadth_first,       solver_kind::bidirectional,
                                  solver_kind::iterative_deepening, solver_kind::best_first};
constexpr std::array metrics{metric::steps, metric::moves};

template <class Kinds>
auto parse(const char* what, const Kinds& kinds, std::string_view name) {
  std::string known;
  for (const auto kind : kinds) {
    if (name == to_string(kind)) return kind;
    if (!known.empty()) known += ", ";
    known += to_string(kind);
  }
  throw std::invalid_argument(fmt::format("unknown {} {} ({})", what, in_quotes(name), known));
}

}  // namespace

std::string_view to_string(puzzle_kind kind) noexcept {
  switch (kind) {
    case puzzle_kind::sliding: return "sliding";
    case puzzle_kind::klotski: return "klotski";
    case puzzle_kind::rush_hour: return "rush-hour";
    case puzzle_kind::queens: return "queens";
    case puzzle_kind::sudoku: return "sudoku";
    case puzzle_kind::uts: return "uts";
  }
  return "";
}

std::string_view to_string(solver_kind kind) noexcept {
  switch (kind) {
    case solver_kind::sequential: return "sequential";
    case solver_kind::racing: return "racing";
    case solver_kind::breadth_first: return "breadth_first";
    case solver_kind::bidirectional: return "bidirectional";
    case solver_kind::iterative_deepening: return "iterative_deepening";
    case solver_kind::best_first: return "best_first";
  }
  return "";
}

puzzle_kind parse_puzzle_kind(std::string_view name) { return parse("puzzle", puzzle_kinds, name); }
solver_kind parse_solver_kind(std::string_view name) { return parse("solver", solver_kinds, name); }
metric parse_metric(std::string_view name) { return parse("metric", metrics, name); }

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown = "'";
  for (const char c : text.substr(0, longest)) shown += c >= ' ' && c < 127 ? c : '?';
  shown += text.size() > longest ? "...'" : "'";
  return shown;
}

}  // namespace puzzles
