// deadlock_report.hpp: what a runtime says when tasks wait for each other, or for nobody.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

enum class deadlock_kind : std::uint8_t {
  circle,      ///< tasks that wait for each other's locks or ends; others may go on
  standstill,  ///< all tasks wait, and nothing is out that could wake one: no timer, I/O, call
};

/// For runtime_options::on_deadlock.
///
///     runtime_options options;
///     options.log_deadlock = false;
///     options.on_deadlock = [](const tandem::deadlock_report& report) { page_us(report.text); };
class deadlock_report {
 public:
  deadlock_report() = default;

  deadlock_kind kind = deadlock_kind::standstill;
  /// Ids of the tasks of the circle, each of which waits for the next one; of a standstill those of
  /// the first tasks.
  std::vector<std::uint64_t> tasks;
  std::string text;  ///< some lines, which name each task and what it waits for
};

}  // namespace tandem::inline v0
