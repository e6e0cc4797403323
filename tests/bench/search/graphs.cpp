// graphs.cpp: cases with a seen set: whole graphs, and shortest paths.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <deque>
#include <unordered_set>

#include "klotski.hpp"
#include "rush_hour.hpp"
#include "sliding.hpp"
#include "suite.hpp"

namespace tandem::bench {

namespace {

using eight = puzzles::sliding_puzzle<puzzles::packed_tiles, puzzles::guidance::none>;

constexpr std::uint64_t reachable_eights = 181'440;

/// Breadth first over the whole graph with what the standard library has: a queue, and a hash set of
/// packed positions. It remembers no parents, and so could give no path.
class standard_library {
 public:
  explicit standard_library(const eight& puzzle) : puzzle_(puzzle) {}

  visit_count operator()() const {
    std::unordered_set<std::uint64_t> seen;
    std::deque<eight::position> open{puzzle_.initial()};
    seen.insert(puzzle_.pack(open.front()));
    while (!open.empty()) {
      const eight::position at = open.front();
      open.pop_front();
      for (const auto by : puzzle_.legal_moves(at)) {
        const eight::position next = puzzle_.apply(at, by);
        if (seen.insert(puzzle_.pack(next)).second) open.push_back(next);
      }
    }
    return visit_count(seen.size(), seen.size());
  }

 private:
  eight puzzle_;
};

void add_eight_graph(case_list& cases) {
  const search_case about("eight_graph", "181,440 positions, no goal among them", reachable_eights,
                          false);
  const eight puzzle(3, 3, {1, 2, 3, 4, 5, 6, 8, 7, 0}, puzzles::default_goal(3, 3));
  cases.push_back(about.plain_row("serial", [puzzle] {
    const auto visited = sequential_search(puzzle);
    return visit_count(visited.nodes, visited.nodes);
  }));
  cases.push_back(about.plain_row("standard_library", standard_library(puzzle)));
  cases.push_back(about.solver_row("tandem", {}, [puzzle](workers& on) {
    const auto visited = on(breadth_first_search(puzzle));
    return visit_count(visited.nodes, visited.nodes);
  }));
  cases.push_back(about.solver_row("tandem_racing", {}, [puzzle](workers& on) {
    const auto visited = on(racing_search(puzzle));
    return visit_count(visited.nodes, visited.nodes);
  }));
}

/// A shortest path by each solver that finds one.
template <class Puzzle>
void add_paths(case_list& cases, const search_case& about, const Puzzle& puzzle) {
  const auto told = [](const auto& found) { return visit_count(found.nodes, found.cost); };
  cases.push_back(about.solver_row(
      "tandem", {}, [=](workers& on) { return told(on(breadth_first_search(puzzle))); }));
  cases.push_back(about.solver_row("tandem_bidirectional", {}, [=](workers& on) {
    return told(on(bidirectional_search(puzzle)));
  }));
  cases.push_back(about.solver_row(
      "tandem_best_first", {}, [=](workers& on) { return told(on(best_first_search(puzzle))); }));
}

void add_shortest_paths(case_list& cases) {
  const search_case klotski("klotski", "Heng Dao Li Ma, 116 steps", 116, false);
  add_paths(cases, klotski,
            puzzles::klotski_puzzle(puzzles::klotski_board::classic(), puzzles::metric::steps));
  const search_case rush_hour("rush_hour", "58 moves", 58, false);
  add_paths(cases, rush_hour,
            puzzles::rush_hour_puzzle(
                puzzles::rush_hour_board::parse("BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN"),
                puzzles::metric::moves));
}

/// Millions of positions, in levels of up to millions: a 15-puzzle of 20 moves.
void add_long_breadth_first(case_list& cases) {
  constexpr std::uint64_t positions = 5'175'153;  // up to 20 moves away
  const search_case about(
      "fifteen_20", "a 15-puzzle, all 5.2 million positions up to 20 moves away", positions, true);
  const puzzles::sliding_puzzle<puzzles::packed_tiles, puzzles::guidance::none> puzzle(
      4, 4, {1, 9, 2, 3, 4, 10, 11, 7, 5, 8, 0, 6, 12, 13, 14, 15},
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  cases.push_back(about.plain_row("serial", [puzzle] {
    const auto visited = sequential_search(puzzle, search_options().with_node_limit(positions));
    return visit_count(visited.nodes, visited.nodes);
  }));
  cases.push_back(about.solver_row("tandem", {}, [puzzle](workers& on) {
    const auto visited = on(breadth_first_search(puzzle));
    return visit_count(visited.nodes, visited.nodes);
  }));
}

/// Over a million positions: a 15-puzzle of 58 moves.
void add_long_best_first(case_list& cases) {
  const search_case about("fifteen_58", "a 15-puzzle, 58 moves, some 1.5 million positions", 58,
                          true);
  const puzzles::sliding_puzzle<puzzles::packed_tiles> puzzle(
      4, 4, {11, 13, 9, 10, 3, 5, 6, 4, 0, 2, 8, 7, 1, 15, 14, 12},
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  cases.push_back(about.solver_row("tandem_best_first", {}, [=](workers& on) {
    const auto found = on(best_first_search(puzzle));
    return visit_count(found.nodes, found.cost);
  }));
}

}  // namespace

void add_graphs(case_list& cases) {
  add_eight_graph(cases);
  add_shortest_paths(cases);
  add_long_breadth_first(cases);
  add_long_best_first(cases);
}

}  // namespace tandem::bench
