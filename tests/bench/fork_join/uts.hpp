// uts.hpp: the problem Unbalanced Tree Search: walks a tree that only its random numbers know.
// SPDX-License-Identifier: MIT
//
// A node is 20 random bytes; child number i has the SHA-1 of those bytes and of i. How many
// children there are follows from the bytes, by one of three laws, so no subtree's size is known
// before it is walked. Source: Olivier et al., "UTS: An Unbalanced Tree Search Benchmark" (2006),
// trees T1 to T5.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "../bench.hpp"

namespace tandem::bench::uts {

enum class law { geometric, binomial, hybrid };      // of the number of children
enum class shape { linear, cyclic, fixed, unused };  // how a geometric law changes with the depth

/// A tree, and what a walk of it has to find.
struct tree {
  const char* name;
  law kind;
  shape form;
  int seed;
  double root_children;  // expected (geometric) or exact (binomial)
  int depth_limit;       // geometric
  double inner_share;    // binomial: probability of having children ...
  int inner_children;    // ... and how many
  int nodes;
  int leaves;
  int depth;
};

inline constexpr std::array<tree, 5> trees{{
    {"uts_t1", law::geometric, shape::fixed, 19, 4, 10, 0, 0, 4'130'071, 3'305'118, 10},
    {"uts_t2", law::geometric, shape::cyclic, 502, 6, 16, 0, 0, 4'117'769, 2'342'762, 81},
    {"uts_t3", law::binomial, shape::unused, 42, 2000, 0, 0.124875, 8, 4'112'897, 3'599'034, 1572},
    {"uts_t4", law::hybrid, shape::linear, 1, 6, 16, 0.234375, 4, 4'132'453, 3'108'986, 134},
    {"uts_t5", law::geometric, shape::linear, 34, 4, 20, 0, 0, 4'147'582, 2'181'318, 20},
}};

struct node {
  std::array<std::uint32_t, 5> random;
  int depth;
};

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

// In uts.cpp, compiled once: every implementation calls the same code.
node root_of(const tree& t);
node child_of(const node& parent, int index);
int count_children(const tree& t, const node& at);
tally serial(const tree& t, const node& at);

void check(const tree& t, const tally& got);

inline std::string input_of(const tree& t) {
  return std::to_string(t.nodes) + " nodes, depth " + std::to_string(t.depth);
}

/// T1 is shallow and wide, T3 deep and thin with a root of 2000 children: the others add little.
inline bool is_extra(const tree& t) {
  const std::string_view name = t.name;
  return name != "uts_t1" && name != "uts_t3";
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
