// starvation_report.hpp: what a worker pool says when work waits and nobody takes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <source_location>
#include <string>
#include <vector>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// One worker that is inside an item.
class stuck_worker {
 public:
  stuck_worker(unsigned worker_number, std::source_location spawned, bool in_region,
               std::chrono::nanoseconds stuck_for) noexcept
      : number(worker_number),
        in_blocking_region(in_region),
        spawned_at(spawned),
        lasts(stuck_for) {}

  unsigned number;
  bool in_blocking_region;
  /// Where the task that it runs was spawned; line 0 if that is not known.
  std::source_location spawned_at;
  /// How long it has been inside the same segment, at least: it is looked at once a round of the
  /// gate.
  std::chrono::nanoseconds lasts;
};

/// For pool_options::on_starvation.
///
///     tandem::runtime_options options;
///     options.log_starvation = false;
///     options.on_starvation = [&](const tandem::starvation_report& report) {
///       std::printf("%s\n", to_string(report).c_str());
///     };
class starvation_report {
 public:
  starvation_report() = default;

  std::string pool;
  /// How long nobody has taken anything but threads that came, one item each.
  std::chrono::nanoseconds lasts{};
  std::chrono::nanoseconds oldest{};  ///< how long something has been waiting at least
  std::size_t waiting = 0;            ///< items in all queues
  unsigned threads = 0;
  unsigned max_threads = 0;
  double cpu = 0;  ///< share of the usable CPUs that the process uses, 0 to 1
  std::vector<stuck_worker> workers;
};

/// "tandem: pool tandem: 8 workers blocked for 2.1 s; 113 items wait; oldest 1.9 s; ...", and a
/// line for each worker.
TANDEM_API std::string to_string(const starvation_report& report);

}  // namespace tandem::inline v0
