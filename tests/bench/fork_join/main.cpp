// main.cpp: suite fork_join: recursions without a cut-off, spawns and yields; plain calls as floors.
// SPDX-License-Identifier: MIT
#include "suite.hpp"

int main(int argc, char** argv) {
  tandem::bench::case_list cases;
  tandem::bench::add_fib(cases);
  tandem::bench::add_skynet(cases);
  tandem::bench::add_nqueens(cases);
  tandem::bench::add_uts(cases);
  tandem::bench::add_matmul(cases);
  tandem::bench::add_spawns(cases);
  return tandem::bench::run_main(argc, argv, cases);
}
