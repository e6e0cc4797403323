// search_solvers_endless.cpp: all solvers for the endless puzzle, plain and watched, made once for the tests of searches.
// SPDX-License-Identifier: MIT
#include "runtime/search/search_support.hpp"

namespace tandem::test {

template task<search_result<endless>> solve(const endless&, solver, search_options);
template task<search_result<watched<endless>>> solve(const watched<endless>&, solver,
                                                     search_options);

}  // namespace tandem::test
