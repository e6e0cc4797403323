// solve.hpp: one request, one answer: what the command line and the service have in common
// SPDX-License-Identifier: MIT
//
// A solve_request is plain data, checked by whoever makes it: request_from_json, or the command
// line, which fills the fields and calls validate(). solve() parses the board, picks the solver and
// renders the path into the puzzle's documented format (README.md). Every complaint about the input
// is a std::invalid_argument with one line that can be shown as it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tandem/search.hpp>
#include <tandem/task.hpp>

#include "kinds.hpp"
#include "metric.hpp"

namespace puzzles {

class thread_set;

/// What is to be solved, and within which limits. Fields of the other puzzles are ignored.
class solve_request {
 public:
  solve_request() = default;
  explicit solve_request(puzzle_kind kind) : puzzle(kind) {}

  puzzle_kind puzzle = puzzle_kind::sliding;
  std::optional<solver_kind> solver;  ///< default: see chosen_solver()
  std::optional<metric> counted;      ///< klotski (default: steps), rush-hour (default: moves)

  // sliding
  unsigned rows = 0;
  unsigned cols = 0;
  std::vector<int> start;  ///< row-major, 0 is the blank
  std::vector<int> goal;   ///< empty: 1 2 .. n-1 0

  std::string board;  ///< klotski (empty: Heng Dao Li Ma), rush-hour

  unsigned n = 0;      ///< queens
  bool count = false;  ///< queens, sudoku: all solutions instead of the first

  // sudoku
  std::string grid;  ///< empty, with count: nothing is filled
  std::string box;   ///< "RxC"; empty: 3x3

  // uts
  std::string tree;                   ///< T1 to T5
  std::optional<std::uint32_t> seed;  ///< another tree of the same law

  // limits; 0 is none
  std::uint64_t node_limit = 0;
  std::chrono::milliseconds time_limit{0};
  std::uint64_t memory_limit_bytes = 0;
  unsigned parallelism = 0;  ///< 0: as many as the pool has workers

  std::function<void(const tandem::search_progress&)> progress;
  thread_set* threads = nullptr;  ///< if given: filled with the threads that searched

  /// breadth_first; on sliding boards of more than 9 cells iterative_deepening, for trees racing.
  solver_kind chosen_solver() const noexcept;
  metric chosen_metric() const noexcept;
  /// The answer is a number, no path.
  bool is_count() const noexcept { return count || puzzle == puzzle_kind::uts; }
};

/// What became of it.
class solve_answer {
 public:
  using path_type = std::variant<std::vector<int>, std::vector<std::string>>;

  puzzle_kind puzzle = puzzle_kind::sliding;
  solver_kind solver = solver_kind::breadth_first;
  tandem::search_outcome outcome = tandem::search_outcome::exhausted;
  bool solved = false;  ///< has a path, or has counted a solution or (uts) all of the tree
  std::optional<std::uint64_t> moves;  ///< length of the path; none if unsolved or counted
  /// sliding: tiles moved; queens: a column (0-based) per row; klotski, rush-hour: "A down down";
  /// sudoku: "r1c3=7"
  path_type path;
  std::uint64_t nodes = 0;
  std::uint64_t solutions = 0;
  std::uint64_t leaves = 0;  ///< uts
  std::uint64_t depth = 0;   ///< see tandem::search_summary
  double milliseconds = 0;
  unsigned threads = 0;  ///< worker threads of the pool that searched
  double nodes_per_second = 0;
  double bytes_per_position = 0;  ///< 0 if none was kept
  std::string end;                ///< how the search ended, in words

  /// A limit ended the search before it had an answer.
  bool hit_limit() const noexcept { return tandem::is_limit(outcome); }
};

/// Checks the request as solve() would, without solving it.
///
/// @throws              std::invalid_argument: one clear line
void validate(const solve_request& request);

/// Solves it on the worker pool of the current runtime.
///
/// @throws              std::invalid_argument: bad input; operation_cancelled
/// @cancellation        ends the search within some hundred microseconds, after all its tasks
/// @resumes_on          the executor that the caller awaited from
[[nodiscard]] tandem::task<solve_answer> solve(solve_request request);

/// Reads the keys that README.md tells of. `start` and `goal` are arrays of integers or a string of
/// them.
///
/// @throws              std::invalid_argument: one clear line; also for an unknown or misplaced key
solve_request request_from_json(const nlohmann::json& json);

/// As above, from text; text that is no JSON is a std::invalid_argument, too.
solve_request request_from_text(std::string_view text);

/// `{"puzzle","solver","solved","moves","path","nodes","solutions","milliseconds","threads"}`, in
/// this order, and for uts `"depth"` and `"leaves"` after them.
nlohmann::ordered_json to_json(const solve_answer& answer);

/// A list of tile numbers, separated by blanks or commas.
///
/// @throws              std::invalid_argument: "start: 'x' is no tile number"
std::vector<int> parse_tiles(std::string_view name, std::string_view text);

/// A drawing of each position from the first to the last, several lines each.
std::vector<std::string> draw(const solve_request& request, const solve_answer& answer);

}  // namespace puzzles
