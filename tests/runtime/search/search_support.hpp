// search_support.hpp: all solvers behind one call, for the tests of <tandem/search.hpp>.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

#include "runtime/search/search_puzzles.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

namespace tandem::test {

enum class solver {
  sequential,
  cooperative,
  racing,
  breadth_first,
  bidirectional,
  best_first,
  counting
};

/// Those that visit all there is if there is no goal, and each position once.
inline constexpr solver path_solvers[] = {solver::sequential, solver::cooperative, solver::racing,
                                          solver::breadth_first, solver::best_first};
inline constexpr solver two_way_solvers[] = {solver::sequential,    solver::cooperative,
                                             solver::racing,        solver::breadth_first,
                                             solver::bidirectional, solver::best_first};
inline constexpr solver all_solvers[] = {
    solver::sequential,    solver::cooperative, solver::racing,  solver::breadth_first,
    solver::bidirectional, solver::best_first,  solver::counting};
inline constexpr solver parallel_solvers[] = {solver::racing, solver::breadth_first,
                                              solver::bidirectional, solver::best_first,
                                              solver::counting};
inline constexpr unsigned pool_sizes[] = {1, 2, 4};
/// For searches of a whole graph, which take seconds each under a sanitizer.
inline constexpr std::span<const unsigned> long_pool_sizes =
    std::span(pool_sizes).subspan(sanitized ? 2 : 0);

inline std::string name_of(solver which) {
  switch (which) {
    case solver::sequential: return "sequential";
    case solver::cooperative: return "cooperative";
    case solver::racing: return "racing";
    case solver::breadth_first: return "breadth_first";
    case solver::bidirectional: return "bidirectional";
    case solver::best_first: return "best_first";
    case solver::counting: return "counting";
  }
  return "";
}

/// One that is known when the test is compiled, so that the compiler makes no other.
template <solver Which, class P>
task<search_result<P>> solve(const P& puzzle, search_options options = {}) {
  if constexpr (Which == solver::sequential) {
    co_return sequential_search(puzzle, options);
  } else if constexpr (Which == solver::cooperative) {
    co_return co_await cooperative_search(puzzle, options);
  } else if constexpr (Which == solver::racing) {
    co_return co_await racing_search(puzzle, options);
  } else if constexpr (Which == solver::breadth_first) {
    co_return co_await breadth_first_search(puzzle, options);
  } else if constexpr (Which == solver::best_first) {
    co_return co_await best_first_search(puzzle, options);
  } else if constexpr (Which == solver::counting) {
    co_return co_await count_solutions(puzzle, options);
  } else if constexpr (two_way_puzzle<P>) {
    co_return co_await bidirectional_search(puzzle, options);
  } else {
    throw std::logic_error("the puzzle does not go both ways");
  }
}

/// One that is chosen when the test runs: the compiler makes all of them for the puzzle.
template <class P>
task<search_result<P>> solve(const P& puzzle, solver which, search_options options = {}) {
  switch (which) {
    case solver::sequential: return solve<solver::sequential>(puzzle, std::move(options));
    case solver::cooperative: return solve<solver::cooperative>(puzzle, std::move(options));
    case solver::racing: return solve<solver::racing>(puzzle, std::move(options));
    case solver::breadth_first: return solve<solver::breadth_first>(puzzle, std::move(options));
    case solver::bidirectional: return solve<solver::bidirectional>(puzzle, std::move(options));
    case solver::best_first: return solve<solver::best_first>(puzzle, std::move(options));
    case solver::counting: return solve<solver::counting>(puzzle, std::move(options));
  }
  throw std::logic_error("no such solver");
}

// All solvers for a puzzle are hundreds of functions: those of the puzzles that several files share are made once, by
// search_solvers_*.cpp.
extern template task<search_result<eight_puzzle>> solve(const eight_puzzle&, solver,
                                                        search_options);
extern template task<search_result<watched<eight_puzzle>>> solve(const watched<eight_puzzle>&,
                                                                 solver, search_options);
extern template task<search_result<endless>> solve(const endless&, solver, search_options);
extern template task<search_result<watched<endless>>> solve(const watched<endless>&, solver,
                                                            search_options);

template <solver Which, class P>
search_result<P> solve_on(unsigned threads, const P& puzzle, search_options options = {}) {
  return run(solve<Which>(puzzle, std::move(options)), with_threads(threads));
}
template <class P>
search_result<P> solve_on(unsigned threads, const P& puzzle, solver which,
                          search_options options = {}) {
  return run(solve(puzzle, which, std::move(options)), with_threads(threads));
}

template <class P>
bool leads_to_goal(const P& puzzle, const std::vector<typename P::move>& path) {
  auto at = puzzle.initial();
  for (const auto& by : path) {
    const auto legal = puzzle.legal_moves(at);
    if (std::find(legal.begin(), legal.end(), by) == legal.end()) return false;
    at = puzzle.apply(at, by);
  }
  return puzzle.is_goal(at);
}

inline eight_puzzle unsolvable() { return eight_puzzle(std::string(unsolvable_eight)); }

/// What a solver can be asked to do without an end, on any puzzle.
template <class Solvers, class Body>
void for_each_of(const Solvers& solvers, Body body) {
  for (const solver which : solvers) {
    for (const unsigned threads : pool_sizes) {
      SCOPED_TRACE(name_of(which) + " on " + std::to_string(threads));
      body(which, threads);
    }
  }
}
template <class Body>
void for_each_solver_and_pool(Body body) {
  for_each_of(all_solvers, body);
}

template <class P>
search_result<P> deepen(const P& puzzle, unsigned threads = 2, search_options options = {}) {
  return run(iterative_deepening_search(puzzle, std::move(options)), with_threads(threads));
}

}  // namespace tandem::test
