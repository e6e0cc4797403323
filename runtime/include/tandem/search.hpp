// search.hpp: solvers for puzzles, sequential and on all workers.
// SPDX-License-Identifier: MIT
//
//     sequential_search           plain function, depth first, one thread
//     cooperative_search          the same as a task that yields now and then
//     racing_search               depth first on all workers, the first solution wins
//     breadth_first_search        level by level on all workers, a path of the fewest moves
//     bidirectional_search        the same from both ends at once, if goals and ways back are known
//     iterative_deepening_search  IDA*: a cheapest path by an estimate, without a seen set
//     best_first_search           A*: a cheapest path by an estimate, each position kept
//     count_solutions             all goals of a tree, by fork and join
//     count_tree                  its nodes, leaves and depth
//
// All of them keep to the limits of search_options, stop with their task, and rethrow the first
// exception of the puzzle after all their tasks have ended. Example, with the `counter` of
// <tandem/puzzle.hpp>:
//
//     tandem::task<void> reach_ten() {
//       counter puzzle;
//       auto found = co_await tandem::breadth_first_search(puzzle);
//       std::cout << found.path.size() << " moves, " << found.nodes << " positions\n";
//     }
#pragma once

#include <tandem/puzzle.hpp>
#include <tandem/search/best_first.hpp>
#include <tandem/search/bidirectional.hpp>
#include <tandem/search/breadth_first.hpp>
#include <tandem/search/count.hpp>
#include <tandem/search/iterative_deepening.hpp>
#include <tandem/search/options.hpp>
#include <tandem/search/racing.hpp>
#include <tandem/search/result.hpp>
#include <tandem/search/sequential.hpp>
