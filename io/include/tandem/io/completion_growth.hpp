// completion_growth.hpp: every constant of the rule that chooses how many completion threads there are.
// SPDX-License-Identifier: MIT
//
// What each of them does: io/src/growth/README.md.
#pragma once

#include <chrono>
#include <concepts>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

/// How a completion pool finds its number of threads between min_threads and max_threads.
///
///     tandem::io::completion_options options;
///     options.max_threads = 8;
///     options.adaptive.keep_alive = std::chrono::minutes(1);
///     tandem::io::install(runtime, options);
///
///     options.adaptive = false;  // only resize() changes it
class TANDEM_IO_API completion_growth {
 public:
  using duration = std::chrono::nanoseconds;

  completion_growth() noexcept = default;
  /// On or off, and the defaults.
  template <std::same_as<bool> Bool>
  completion_growth(Bool on) noexcept : enabled(on) {}  // NOLINT(*-explicit-*): `adaptive = false`

  /// @throws  std::invalid_argument naming the first option that is out of its range, and the range
  void validate() const;

  /// false: nobody looks, and only resize() changes the number. So it is where max_threads is
  /// min_threads.
  bool enabled = true;

  // What is seen.
  /// How often is decided. 1 ms to 1 h.
  duration period = std::chrono::milliseconds(100);
  /// Looks at each thread in a period, 4 to 1000; it was busy at those that did not find it asleep.
  /// No thread is timed: that would cost each of its sleeps something.
  unsigned looks = 20;

  // One more.
  /// A thread that was busy for this part of a period is saturated. Above fit_share, at most 1.
  double saturated_share = 0.9;
  /// So many periods in a row in which all were saturated: one more thread. At least 1.
  unsigned saturated_periods = 5;
  /// A task that has kept its thread for so long stalls it: one more thread, once for each that is
  /// stalled. 1 ms to 1 h.
  duration stalled_for = std::chrono::milliseconds(50);

  // One less.
  /// The load fits on fewer threads if it would keep each of them busy for at most this part. Above
  /// 0.
  double fit_share = 0.5;
  /// And if at most so many tasks of the pool's executor wait for each of them, on average. At
  /// least 0.
  double fit_backlog = 1.0;
  /// Weight of the newest period in the averages of load and backlog; above 0, at most 1.
  double load_smoothing = 0.1;
  /// The load has fitted on fewer threads for so long: the last one retires. 1 ms to 24 h.
  duration keep_alive = std::chrono::seconds(20);
  /// A thread that is needed again soon after one has retired doubles that time, up to so many
  /// times keep_alive. 1 to 1000.
  unsigned max_back_off = 16;
};

}  // namespace tandem::inline v0::io
