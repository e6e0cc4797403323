// settings.hpp: the command line of the four servers: --port 0 --idle 60 --wait 10 --grace 5 --queue 100, in seconds.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace migrations {

class settings {
 public:
  settings(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const std::string_view name(argv[i]);
      const double value = i + 1 < argc ? std::strtod(argv[i + 1], nullptr) : -1;
      const std::chrono::milliseconds time(static_cast<std::int64_t>(value * 1000));
      if (value >= 0 && name == "--port") {
        port = static_cast<std::uint16_t>(value);
      } else if (value > 0 && name == "--idle") {
        idle = time;
      } else if (value > 0 && name == "--wait") {
        wait = time;
      } else if (value > 0 && name == "--grace") {
        grace = time;
      } else if (value >= 1 && name == "--queue") {
        queue = static_cast<std::size_t>(value);
      } else {
        std::fprintf(stderr, "%s: --port P --idle S --wait S --grace S --queue N\n", argv[0]);
        std::exit(2);
      }
    }
  }

  std::uint16_t port = 7000;               ///< of 127.0.0.1; 0: a free one
  std::chrono::milliseconds idle{60'000};  ///< for a line to come, and for answers to be taken
  std::chrono::milliseconds wait{10'000};  ///< of WAIT, for its key
  std::chrono::milliseconds grace{5'000};  ///< for connections after SIGTERM
  std::size_t queue = 100;                 ///< messages that wait for a member of the chat
};

/// What each of the servers says first.
inline void announce(std::uint16_t port) {
  std::printf("listening on 127.0.0.1:%d\n", port);
  std::fflush(stdout);
}

}  // namespace migrations
