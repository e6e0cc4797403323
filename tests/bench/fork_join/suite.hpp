// suite.hpp: the cases of suite fork_join, and how tandem's own ones run and fork.
// SPDX-License-Identifier: MIT
//
// Every case is a source file that adds its rows to the list. Tasks are templates over a counter:
// the benchmark takes `no_counter`, which is nothing; task_count_test.cpp takes one that counts.
#pragma once

#include <cstddef>
#include <tandem/fork_each.hpp>
#include <tandem/fork_join.hpp>
#include <vector>

#include "../bench.hpp"
#include "../workers.hpp"

namespace tandem::bench {

using case_list = std::vector<bench_case>;

void add_fib(case_list& cases);
void add_skynet(case_list& cases);
void add_nqueens(case_list& cases);
void add_uts(case_list& cases);
void add_matmul(case_list& cases);
void add_spawns(case_list& cases);

struct no_counter {
  static void started() noexcept {}
};

}  // namespace tandem::bench
