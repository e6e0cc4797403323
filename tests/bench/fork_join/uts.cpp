// uts.cpp: the walk of uts.hpp as a plain recursion, and what it has to find.
// SPDX-License-Identifier: MIT
#include "uts.hpp"

namespace tandem::bench::uts {

tally serial(const tree& t, const node& at) {
  const int children = count_children(t, at);
  if (children == 0) return leaf_tally(at);
  tally sum = inner_tally(at);
  for (int i = 0; i < children; ++i) sum.add(serial(t, child_of(at, i)));
  return sum;
}

void check(const tree& t, const tally& got) {
  expect_equal(got.nodes, t.nodes, "the number of nodes");
  expect_equal(got.leaves, t.leaves, "the number of leaves");
  expect_equal(got.depth, t.depth, "the depth");
}

}  // namespace tandem::bench::uts
