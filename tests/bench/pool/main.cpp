// main.cpp: suite pool: posting to a pool from outside and from inside, its queues, and what its controller costs.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>

#include "suite.hpp"

int main(int argc, char** argv) {
  // For a look with a profiler: makes all rounds this many times shorter.
  if (const char* const share = std::getenv("TANDEM_BENCH_SHARE")) {
    tandem::bench::pool::set_share(std::max(1L, std::atol(share)));
  }
  return tandem::bench::run_main(argc, argv, tandem::bench::pool::pool_cases());
}
