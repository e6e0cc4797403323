// plot.hpp: draws a run with gnuplot.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "monitor.hpp"
#include "settings.hpp"

namespace monitor {

/// Threads, throughput and queue over time, with the decisions marked.
///
/// @param file  ends in .svg or .png
/// @throws      std::runtime_error saying what is missing
void draw(const std::string& file, const settings& chosen, const pool_watch& watch);

}  // namespace monitor
