// search_solvers_eight.cpp: all solvers for the 8-puzzle, plain and watched, made once for the tests of searches.
// SPDX-License-Identifier: MIT
#include "runtime/search/search_support.hpp"

namespace tandem::test {

template task<search_result<eight_puzzle>> solve(const eight_puzzle&, solver, search_options);
template task<search_result<watched<eight_puzzle>>> solve(const watched<eight_puzzle>&, solver,
                                                          search_options);

}  // namespace tandem::test
