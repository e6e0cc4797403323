// command_line.hpp: what every server of suite io is started with: PORT THREADS and perhaps a mode.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tandem::bench {

class server_command {
 public:
  /// Ends the process if there is no port or no number of threads.
  server_command(int argc, char** argv) {
    if (argc >= 3) {
      port = static_cast<std::uint16_t>(std::atoi(argv[1]));
      threads = std::atoi(argv[2]);
    }
    if (argc >= 4) mode = argv[3];
    if (port == 0 || threads <= 0) {
      std::fprintf(stderr, "usage: %s PORT THREADS [MODE]\n", argv[0]);
      std::exit(2);
    }
  }

  std::uint16_t port = 0;
  int threads = 0;
  std::string mode;
};

}  // namespace tandem::bench
