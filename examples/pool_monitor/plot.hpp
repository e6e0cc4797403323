// plot.hpp: draws a run with gnuplot.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "monitor.hpp"
#include "settings.hpp"

namespace monitor {

/// Whether draw() takes a file of this name.
bool is_drawable(const std::string& file);

/// Before anything is fed. @throws  std::runtime_error saying what is missing
void expect_to_draw(const std::string& file);

/// Threads, throughput and queue over time, with the decisions marked.
///
/// @param file  ends in .svg or .png, without quotes
/// @throws      std::runtime_error saying what is missing
void draw(const std::string& file, const settings& chosen, const pool_watch& watch);

}  // namespace monitor
