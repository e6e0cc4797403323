// starvation_report.cpp: who is stuck where, as text.
// SPDX-License-Identifier: MIT
#include <tandem/starvation_report.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include <tandem/detail/place_text.hpp>

namespace tandem::inline v0 {

namespace {

std::string seconds(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>(time).count());
  return text;
}

}  // namespace

std::string to_string(const starvation_report& report) {
  const auto all = report.workers.size();
  const auto since_it_began = static_cast<std::size_t>(
      std::count_if(report.workers.begin(), report.workers.end(),
                    [&](const stuck_worker& each) { return each.lasts >= report.lasts; }));
  std::string text =
      "tandem: pool " + report.pool + ": " + std::to_string(all) + " workers blocked";
  if (since_it_began != all) text += ", " + std::to_string(since_it_began) + " of them";
  text += " for " + seconds(report.lasts) + "; " + std::to_string(report.waiting) +
          (report.waiting == 1 ? " item waits" : " items wait") + "; oldest " +
          seconds(report.oldest) + "; " + std::to_string(report.threads) + " of at most " +
          std::to_string(report.max_threads) + " threads; CPU " +
          std::to_string(static_cast<int>(report.cpu * 100 + 0.5)) + " %\n";
  for (const stuck_worker& each : report.workers) {
    text += "  worker " + std::to_string(each.number) + ", for " + seconds(each.lasts) +
            (each.in_blocking_region ? ", in a blocking_region" : "");
    if (each.spawned_at.line() == 0) {
      text += ": no task known: it has just come, or runs what was posted by hand";
    } else {
      text += ": a task spawned at " + detail::place_text(each.spawned_at);
    }
    text += "\n";
  }
  return text;
}

}  // namespace tandem::inline v0
