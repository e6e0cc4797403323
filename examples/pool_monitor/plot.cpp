// plot.cpp: a script for gnuplot, with its data inside.
// SPDX-License-Identifier: MIT
#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

#include "report.hpp"

namespace monitor {

namespace {

constexpr double throughput_window = 1.0;  // seconds

using tandem::decision_reason;
using tandem::pool_action;

/// How threads that came, or went, for one reason are marked.
class mark {
 public:
  pool_action action;
  decision_reason reason;
  const char* colour;
};

// Each reason for which a worker pool starts a thread, or lets one go.
constexpr std::array<mark, 10> marks{{
    {pool_action::inject, decision_reason::work, "#3fa7d6"},
    {pool_action::inject, decision_reason::warm_up, "#8ac926"},
    {pool_action::inject, decision_reason::climb, "#2a9d3a"},
    {pool_action::inject, decision_reason::hold, "#457b9d"},
    {pool_action::inject, decision_reason::queue_full, "#e9c46a"},
    {pool_action::inject, decision_reason::starvation, "#d62828"},
    {pool_action::inject, decision_reason::blocking, "#9b5de5"},
    {pool_action::inject, decision_reason::outside_change, "#f15bb5"},
    {pool_action::retire, decision_reason::keep_alive, "#444444"},
    {pool_action::retire, decision_reason::outside_change, "#b5179e"},
}};

/// As the legend says it: "inject: queue full".
std::string title_of(const mark& of) {
  std::string title = fmt::format("{}: {}", to_string(of.action), to_string(of.reason));
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

std::string samples_of(const pool_watch& watch) {
  std::string rows;
  const auto& all = watch.samples();
  std::size_t from = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    while (all[i].seconds - all[from].seconds > throughput_window) ++from;
    const double span = all[i].seconds - all[from].seconds;
    const double rate =
        span > 0 ? static_cast<double>(all[i].completed - all[from].completed) / span : 0;
    rows += fmt::format("{:.3f} {} {} {:.1f} {}\n", all[i].seconds, all[i].threads, all[i].goal,
                        rate, all[i].queued);
  }
  return rows;
}

/// A row for each thread that came (or went) for this reason.
std::string marked(const pool_watch& watch, const mark& as) {
  std::string rows;
  for (const auto& each : watch.decisions()) {
    if (each.action != as.action || each.reason != as.reason) continue;
    rows +=
        fmt::format("{:.3f} {}\n", std::chrono::duration<double>(each.when).count(), each.threads);
  }
  return rows;
}

std::string script_for(const std::string& file, const settings& chosen, const pool_watch& watch) {
  const bool png = file.ends_with(".png");
  const char* const terminal =
      png ? "pngcairo size 1000,760 font 'sans,11'"
          : "svg size 1000,760 dynamic background '#ffffff' font 'sans,13'";
  std::string out = fmt::format("set terminal {}\nset output '{}'\n", terminal, file);
  out += "$samples << END\n" + samples_of(watch) + "END\n";
  std::string points;  // what was not seen has no place in the legend
  for (const mark& each : marks) {
    const std::string rows = marked(watch, each);
    if (rows.empty()) continue;
    const std::string name =
        fmt::format("$marks_{}_{}", to_string(each.action), to_string(each.reason));
    out += fmt::format("{} << END\n{}END\n", name, rows);
    points += fmt::format(", {} with points pt {} ps 0.9 lc rgb '{}' title '{}'", name,
                          each.action == pool_action::inject ? 9 : 11, each.colour, title_of(each));
  }
  out += fmt::format("set multiplot layout 3,1 title 'pool\\_monitor --{}, {} to {} threads, {}'\n",
                     chosen.load == load_kind::cpu ? "cpu" : "io", chosen.pool.min_threads,
                     chosen.pool.most_threads(), way_of(chosen));
  out +=
      "set grid lc rgb '#dddddd'\nset key outside right top\nset lmargin 9\nset rmargin 24\n"
      "set yrange [0:*]\nset xrange [0:*]\n"
      "set ylabel 'threads'\n"
      "plot $samples using 1:2 with steps lw 2 lc rgb '#1f4e9c' title 'threads', "
      "'' using 1:3 with steps dt 2 lc rgb '#e07a1f' title 'goal'";
  out += points +
         "\n"
         "set ylabel 'items/s'\n"
         "plot $samples using 1:4 with lines lw 2 lc rgb '#e07a1f' title 'completed, 1 s'\n"
         "set ylabel 'queued'\nset xlabel 'seconds'\n"
         "plot $samples using 1:5 with steps lw 2 lc rgb '#6c757d' title 'items that wait'\n"
         "unset multiplot\n";
  return out;
}

}  // namespace

bool is_drawable(const std::string& file) {
  return (file.ends_with(".svg") || file.ends_with(".png")) &&
         file.find_first_of("'\n") == std::string::npos;
}

void expect_to_draw(const std::string& file) {
  expect_to_write(file);
  // With nothing to draw it ends at once; where there is none, the shell says so.
  std::FILE* const gnuplot = ::popen("gnuplot", "w");
  if (gnuplot == nullptr || ::pclose(gnuplot) != 0) {
    throw std::runtime_error(
        "pool_monitor: --plot needs gnuplot; on Debian: apt-get install gnuplot-nox");
  }
}

void draw(const std::string& file, const settings& chosen, const pool_watch& watch) {
  std::FILE* const gnuplot = ::popen("gnuplot", "w");
  if (gnuplot == nullptr) throw std::runtime_error("pool_monitor: cannot start gnuplot");
  const std::string script = script_for(file, chosen, watch);
  std::fwrite(script.data(), 1, script.size(), gnuplot);
  if (::pclose(gnuplot) != 0) {
    throw std::runtime_error("pool_monitor: gnuplot failed (see above) to draw " + file);
  }
}

}  // namespace monitor
