// main.cpp: suite search: solvers beside plain loops of the same code.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>

#include "suite.hpp"

int main(int argc, char** argv) {
  // For a look with a profiler: makes samples this many times shorter.
  if (const char* const share = std::getenv("TANDEM_BENCH_SHARE")) {
    tandem::bench::set_share(std::max(1L, std::atol(share)));
  }
  return tandem::bench::run_main(argc, argv, tandem::bench::search_cases());
}
