// result.cpp: the end of a search in words, and its errors.
// SPDX-License-Identifier: MIT
#include <tandem/search/result.hpp>

#include <cstdio>
#include <tandem/detail/search/best_first_partition.hpp>
#include <tandem/detail/search/estimate.hpp>
#include <tandem/detail/search/path.hpp>
#include <tandem/detail/search/two_way_path.hpp>

namespace tandem::inline v0 {

namespace {

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// In the unit that leaves a number of one to three digits before the point.
std::string in_words(std::chrono::nanoseconds time) {
  const double seconds = seconds_of(time);
  char text[64];
  if (seconds >= 1) {
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  } else if (seconds >= 1e-3) {
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  }
  return text;
}

}  // namespace

puzzle_error::puzzle_error(const std::string& what) : std::logic_error(what) {}
puzzle_error::~puzzle_error() = default;

no_solution_error::no_solution_error(search_outcome how, const std::string& what)
    : std::runtime_error(what), outcome_(how) {}
no_solution_error::~no_solution_error() = default;

double search_summary::nodes_per_second() const noexcept {
  const double seconds = seconds_of(elapsed);
  return seconds > 0 ? static_cast<double>(nodes) / seconds : 0;
}

double search_summary::bytes_per_position() const noexcept {
  return positions_kept > 0 ? static_cast<double>(seen_bytes) / static_cast<double>(positions_kept)
                            : 0;
}

std::string search_summary::describe() const {
  std::string text;
  switch (outcome) {
    case search_outcome::solved: text = "solved"; break;
    case search_outcome::exhausted:
      text = solutions == 0 ? "no solution" : std::to_string(solutions) + " solutions";
      break;
    case search_outcome::node_limit:
      text = "the node limit of " + std::to_string(limit) + " was reached";
      break;
    case search_outcome::time_limit:
      text = "the time limit of " +
             in_words(std::chrono::nanoseconds(static_cast<std::int64_t>(limit))) + " was reached";
      break;
    case search_outcome::memory_limit:
      text = "the memory limit of " + std::to_string(limit) + " bytes was reached";
      break;
  }
  text += " after " + std::to_string(nodes) + " positions and " + in_words(elapsed);
  return text;
}

std::string tree_result::describe() const {
  if (outcome != search_outcome::exhausted) return search_summary::describe();
  return std::to_string(nodes) + " nodes, " + std::to_string(leaves) + " leaves, depth " +
         std::to_string(depth) + " in " + in_words(elapsed);
}

namespace detail {

void throw_negative_estimate(std::int64_t estimate) {
  throw puzzle_error("tandem search: the heuristic says " + std::to_string(estimate) +
                     ": an estimate is 0 or more");
}

void throw_bad_cost(std::int64_t cost) {
  throw puzzle_error("tandem search: a move costs " + std::to_string(cost) + ": 1 to " +
                     std::to_string(unreachable - 1) + " are possible");
}

void throw_overestimate(std::uint64_t estimate, std::uint64_t real, std::size_t step,
                        std::size_t steps) {
  throw puzzle_error("tandem search: the heuristic is not admissible: after move " +
                     std::to_string(step) + " of the " + std::to_string(steps) +
                     " that were found it says " +
                     (estimate >= unreachable ? std::string("that no goal can be reached")
                                              : std::to_string(estimate)) +
                     ", and the rest costs " + std::to_string(real));
}

void throw_estimate_at_goal(std::uint64_t estimate) {
  throw puzzle_error("tandem search: the heuristic is not admissible: at a goal it says " +
                     std::to_string(estimate));
}

void throw_false_goal() {
  throw puzzle_error("tandem search: goals() names a position that is no goal by is_goal()");
}

void throw_unnamed_goal(std::size_t step) {
  throw puzzle_error("tandem search: after move " + std::to_string(step) +
                     " of the path that was found there is a goal that goals() does not name");
}

void throw_wrong_inverse(std::size_t step) {
  throw puzzle_error("tandem search: move " + std::to_string(step) +
                     " of the path that was found is an inverse and does not lead back");
}

void throw_lost_move() {
  throw puzzle_error(
      "tandem search: a position is not reached from its parent any more: legal_moves, apply and "
      "== "
      "have to answer the same whenever they are asked");
}

}  // namespace detail
}  // namespace tandem::inline v0
