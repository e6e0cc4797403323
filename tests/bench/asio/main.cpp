// main.cpp: suite asio: what the bridge to Asio costs beside Asio itself.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <asio/version.hpp>
#include <cstdlib>
#include <string>

#include "suite.hpp"

int main(int argc, char** argv) {
  // For a look with a profiler: makes all loops this many times shorter.
  if (const char* const share = std::getenv("TANDEM_BENCH_SHARE")) {
    tandem::bench::pool::set_share(std::max(1L, std::atol(share)));
  }
  const std::string version = "Asio " + std::to_string(ASIO_VERSION / 100000) + "." +
                              std::to_string(ASIO_VERSION / 100 % 1000) + "." +
                              std::to_string(ASIO_VERSION % 100);
  return tandem::bench::run_main(argc, argv, tandem::bench::interop::asio_cases(), version);
}
