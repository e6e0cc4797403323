// trees.cpp: cases without a seen set: all solutions, all nodes.
// SPDX-License-Identifier: MIT
#include "queens.hpp"
#include "suite.hpp"

namespace tandem::bench {

namespace {

/// The recursion that anybody would write over a puzzle whose moves form a tree.
template <class Puzzle>
class plain_count {
 public:
  explicit plain_count(const Puzzle& puzzle) : puzzle_(puzzle) {}

  visit_count operator()() {
    visit_count count(0, 0);
    visit(puzzle_.initial(), count);
    return count;
  }

 private:
  void visit(const typename Puzzle::position& at, visit_count& count) const {
    ++count.nodes;
    if (puzzle_.is_goal(at)) {
      ++count.found;
      return;
    }
    for (auto&& by : puzzle_.legal_moves(at)) visit(puzzle_.apply(at, by), count);
  }

  Puzzle puzzle_;
};

template <class Puzzle>
void add_solutions(case_list& cases, const search_case& about, const Puzzle& puzzle) {
  cases.push_back(about.plain_row("serial", plain_count(puzzle)));
  cases.push_back(about.solver_row("tandem", {}, [puzzle](workers& on) {
    const auto counted = on(count_solutions(puzzle));
    return visit_count(counted.nodes, counted.solutions);
  }));
}

}  // namespace

void add_trees(case_list& cases) {
  add_solutions(cases, search_case("queens_14", "365,596 solutions", 365'596, false),
                puzzles::queens_puzzle(14));
}

}  // namespace tandem::bench
