// kinds.hpp: the names of puzzles, solvers and metrics.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "metric.hpp"

namespace puzzles {

enum class puzzle_kind : std::uint8_t { sliding, klotski, rush_hour, queens, sudoku, uts };
enum class solver_kind : std::uint8_t {
  sequential,
  racing,
  breadth_first,
  bidirectional,
  iterative_deepening,
  best_first,
};

std::string_view to_string(puzzle_kind kind) noexcept;
std::string_view to_string(solver_kind kind) noexcept;

/// The kind of that name.
///
/// @throws              std::invalid_argument: "unknown metric 'x' (steps, moves)"
puzzle_kind parse_puzzle_kind(std::string_view name);
solver_kind parse_solver_kind(std::string_view name);
metric parse_metric(std::string_view name);

/// The text in quotes, cut if long, without control characters: for a message of one line.
std::string in_quotes(std::string_view text);

}  // namespace puzzles
