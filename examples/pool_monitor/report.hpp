// report.hpp: a run in numbers: a summary for people, JSON for programs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "monitor.hpp"
#include "settings.hpp"

namespace monitor {

/// What a run came to.
class summary {
 public:
  summary(const pool_watch& watch, double load_seconds);

  double seconds = 0;
  double items_per_second = 0;  ///< while the load lasted
  double mean_threads = 0;      ///< in the second half of the load
  unsigned most_threads = 0;
  unsigned last_threads = 0;
  std::uint64_t injections = 0;
  std::uint64_t retirements = 0;
  std::uint64_t untold = 0;  ///< of these: came and went faster than the pool's ring was read
};

std::string to_string(const summary& run);
/// "inject +1 n=5 reason=starvation t=1.52s" or "retire -1 n=4 t=23.10s": a thread came or went.
/// Why one went is in the JSON.
std::string line_of(const tandem::pool_decision& decision);
/// Before anything is fed: makes the file. @throws  std::runtime_error naming it
void expect_to_write(const std::string& file);
/// @throws  std::runtime_error naming the file
void write_json(const std::string& file, const settings& chosen, const pool_watch& watch,
                const summary& run);

}  // namespace monitor
