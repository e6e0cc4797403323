// deepening.cpp: cases korf_..: 15-puzzles by IDA*, beside plain loops.
// SPDX-License-Identifier: MIT
#include <numeric>

#include "plain_deepening.hpp"
#include "sliding.hpp"

namespace tandem::bench {

namespace {

using fifteen = puzzles::sliding_puzzle<puzzles::packed_tiles>;

std::vector<int> in_order() {
  std::vector<int> goal(16);
  std::iota(goal.begin(), goal.end(), 0);
  return goal;
}

void add_instance(case_list& cases, const char* name, std::vector<int> start, std::uint64_t moves,
                  bool by_hand) {
  const search_case about(name, std::to_string(moves) + " moves", moves, false);
  const fifteen puzzle(4, 4, start, in_order());
  cases.push_back(about.plain_row("serial", plain_deepening(puzzle)));
  if (by_hand) cases.push_back(about.plain_row("by_hand", manhattan_fifteen(start)));
  cases.push_back(about.solver_row("tandem", {}, [puzzle](workers& on) {
    const auto found = on(iterative_deepening_search(puzzle));
    return visit_count(found.nodes, found.cost);
  }));
}

}  // namespace

void add_deepening(case_list& cases) {
  add_instance(cases, "korf_12", {14, 1, 9, 6, 4, 8, 12, 5, 7, 2, 3, 0, 10, 11, 13, 15}, 45, true);
  add_instance(cases, "korf_55", {13, 8, 14, 3, 9, 1, 0, 7, 15, 5, 4, 10, 12, 2, 6, 11}, 41, true);
  add_instance(cases, "korf_1", {14, 13, 15, 7, 11, 12, 9, 5, 6, 0, 2, 1, 4, 8, 10, 3}, 57, false);
}

}  // namespace tandem::bench
