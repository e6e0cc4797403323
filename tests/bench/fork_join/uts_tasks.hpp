// uts_tasks.hpp: Unbalanced Tree Search as tandem tasks: every node, or every inner node.
// SPDX-License-Identifier: MIT
#pragma once

#include "suite.hpp"
#include "uts.hpp"

namespace tandem::bench::uts {

/// Every node a task.
template <class Counter = no_counter>
task<tally> forked(const tree& t, node at) {
  Counter::started();
  const int count = count_children(t, at);
  if (count == 0) co_return leaf_tally(at);
  tally sum = inner_tally(at);
  for (const tally& one : co_await fork_each(static_cast<std::size_t>(count), [&](std::size_t i) {
         return forked<Counter>(t, child_of(at, static_cast<int>(i)));
       })) {
    sum.add(one);
  }
  co_return sum;
}

/// A node without children is counted by its parent; `count` is that of the node's children.
template <class Counter = no_counter>
task<tally> forked_inner(const tree& t, node at, int count) {
  Counter::started();
  tally sum = inner_tally(at);
  // Tasks for those children that have children; the others are added at once.
  std::vector<task<tally>> children;
  for (int i = 0; i < count; ++i) {
    const node child = child_of(at, i);
    const int grandchildren = count_children(t, child);
    if (grandchildren == 0) {
      sum.add(leaf_tally(child));
    } else {
      children.push_back(forked_inner<Counter>(t, child, grandchildren));
    }
  }
  for (const tally& one : co_await fork_join(std::move(children))) sum.add(one);
  co_return sum;
}

}  // namespace tandem::bench::uts
