// settings.hpp: what pool_monitor is asked to do.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <tandem/runtime.hpp>

namespace monitor {

enum class load_kind : unsigned char { cpu, io };

class settings {
 public:
  settings();

  load_kind load = load_kind::cpu;
  std::chrono::nanoseconds compute;   ///< of an item
  std::chrono::nanoseconds wait;      ///< of an item, in which it keeps its worker
  std::chrono::nanoseconds duration;  ///< of the load; with pause: of each half
  std::chrono::nanoseconds pause{};   ///< above 0: the load stops for so long, and returns
  unsigned queue = 256;               ///< places in the queue, which the load keeps full
  unsigned burst = 0;                 ///< above 0: so many items at once, and no more
  unsigned blocking_percent = 100;    ///< of the items: so many wait, the others only compute
  tandem::runtime_options pool;
  std::string plot_file;
  std::string json_file;
  bool quiet = false;
};

/// How the pool finds its threads, in two words.
const char* way_of(const settings& chosen);

/// "3s", "500ms", "20us", "1m": a number and a unit. Nothing if it is something else.
std::optional<std::chrono::nanoseconds> duration_of(std::string_view text);

/// @returns  nothing if the program is to end: `exit_code` says how
std::optional<settings> parse(int argc, char** argv, int& exit_code);

}  // namespace monitor
