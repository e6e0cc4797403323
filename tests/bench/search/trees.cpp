// trees.cpp: cases without a seen set: all solutions, all nodes.
// SPDX-License-Identifier: MIT
#include "queens.hpp"
#include "suite.hpp"
#include "uts.hpp"

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

/// The same for all nodes; what it finds are the leaves.
class plain_walk {
 public:
  explicit plain_walk(const puzzles::uts_puzzle& tree) : tree_(tree) {}

  visit_count operator()() {
    visit_count count(0, 0);
    visit(tree_.initial(), count);
    return count;
  }

 private:
  void visit(const puzzles::uts::node& at, visit_count& count) const {
    ++count.nodes;
    const auto children = tree_.legal_moves(at);
    if (children.empty()) ++count.found;
    for (const int child : children) visit(tree_.apply(at, child), count);
  }

  puzzles::uts_puzzle tree_;
};

void add_tree(case_list& cases, const char* name, const puzzles::uts::tree& of) {
  const search_case about(name,
                          std::to_string(of.nodes) + " nodes, depth " + std::to_string(of.depth),
                          static_cast<std::uint64_t>(of.leaves), false);
  const puzzles::uts_puzzle tree(of);
  cases.push_back(about.plain_row("serial", plain_walk(tree)));
  cases.push_back(about.solver_row("tandem", {}, [tree](workers& on) {
    const tree_result counted = on(count_tree(tree));
    return visit_count(counted.nodes, counted.leaves);
  }));
}

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
  add_tree(cases, "uts_t1_count", puzzles::uts::trees[0]);
  add_tree(cases, "uts_t3_count", puzzles::uts::trees[2]);
}

}  // namespace tandem::bench
