// command.hpp: what was asked for on the command line of puzzle.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "solve.hpp"

namespace puzzles {

class command {
 public:
  command();
  command(const command&) = delete;
  command& operator=(const command&) = delete;

  /// The request, checked. @throws std::invalid_argument
  solve_request request() const;

  CLI::App app;
  unsigned threads = 0;
  bool show = false;
  bool json = false;
  bool progress = false;

 private:
  void add_sliding();
  void add_klotski();
  void add_rush_hour();
  void add_queens();
  void add_sudoku();
  void add_uts();
  void add_metric(CLI::App* sub, const char* what);
  void add_common(CLI::App* sub, puzzle_kind kind, const char* solvers);
  void set_limits(solve_request& made) const;
  std::string read_board(const std::string& file) const;

  puzzle_kind puzzle_ = puzzle_kind::sliding;
  unsigned rows_ = 0;
  unsigned cols_ = 0;
  std::string start_;
  std::string goal_;
  const CLI::Option* goal_option_ = nullptr;
  std::string board_file_;
  std::string board_;
  std::string metric_;
  unsigned n_ = 0;
  bool count_ = false;
  std::string grid_;
  const CLI::Option* grid_option_ = nullptr;
  std::string box_;
  const CLI::Option* box_option_ = nullptr;
  std::string tree_;
  std::uint32_t seed_ = 0;
  const CLI::Option* seed_option_ = nullptr;
  std::string solver_;
  std::optional<std::int64_t> node_limit_;
  std::optional<double> time_limit_s_;
  std::optional<std::int64_t> memory_limit_mib_;
};

}  // namespace puzzles
