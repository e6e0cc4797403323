// uts.hpp: the problem Unbalanced Tree Search: walks the trees of examples/puzzle/uts.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "../../../examples/puzzle/uts.hpp"
#include "../bench.hpp"

namespace tandem::bench::uts {

using puzzles::uts::child_of;
using puzzles::uts::count_children;
using puzzles::uts::node;
using puzzles::uts::root_of;
using puzzles::uts::tree;
using puzzles::uts::trees;

/// What a walk finds below a node, the node included.
struct tally {
  int nodes = 1;
  int leaves = 0;
  int depth = 0;

  void add(const tally& child) {
    nodes += child.nodes;
    leaves += child.leaves;
    if (child.depth > depth) depth = child.depth;
  }
};

inline tally leaf_tally(const node& at) { return {1, 1, at.depth}; }
inline tally inner_tally(const node& at) { return {1, 0, at.depth}; }

// In uts.cpp, compiled once, as the tree itself is: every implementation calls the same code.
tally serial(const tree& t, const node& at);

void check(const tree& t, const tally& got);

inline std::string input_of(const tree& t) {
  return std::to_string(t.nodes) + " nodes, depth " + std::to_string(t.depth);
}

/// The name of its cases: uts_t1 to uts_t5.
inline std::string case_of(const tree& t) { return std::string("uts_t").append(t.name + 1); }

/// T1 is shallow and wide, T3 deep and thin with a root of 2000 children: the others add little.
inline bool is_extra(const tree& t) {
  const std::string_view name = t.name;
  return name != "T1" && name != "T3";
}

/// One sample: `compute(tree, root)` gives a tally. The warm-up walks one child of the root.
template <class Compute>
double sample(const tree& t, Compute&& compute) {
  const node root = root_of(t);
  (void)compute(t, child_of(root, 0));
  tally got;
  const double taken =
      nanoseconds_per(static_cast<double>(t.nodes), [&] { got = compute(t, root); });
  check(t, got);
  return taken;
}

}  // namespace tandem::bench::uts
