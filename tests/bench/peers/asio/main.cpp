// main.cpp: suite sync by Asio: its channels, parallel groups, timers and cancellation signals. It has no mutex.
// SPDX-License-Identifier: MIT
#include <asio/version.hpp>

#include "suite.hpp"

int main(int argc, char** argv) {
  tandem::bench::case_list cases;
  tandem::bench::peer::add_channels(cases);
  tandem::bench::peer::add_groups(cases);
  tandem::bench::peer::add_times(cases);
  const std::string version = "Asio " + std::to_string(ASIO_VERSION / 100000) + "." +
                              std::to_string(ASIO_VERSION / 100 % 1000) + "." +
                              std::to_string(ASIO_VERSION % 100);
  return tandem::bench::run_main(argc, argv, cases, version);
}
