// trace_options.hpp: how much a runtime's flight recorder keeps, and when it is written by itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// For runtime::trace_to().
///
///     tandem::trace_options options;
///     options.events_per_thread = 8192;
///     rt.trace_to("run.json", options);
class TANDEM_API trace_options {
 public:
  trace_options() noexcept = default;

  /// How many events each thread keeps, its newest; 16 bytes each. Rounded up to a power of two, 64
  /// to 16,777,216. What counts is what the first trace_to() of a runtime says. A wait of a task is
  /// three events (queued, begun, ended), its spawn and its end are three each.
  std::size_t events_per_thread = 32768;
  /// Whether the file is also written when a pool says that it is stuck: a starvation_report of the
  /// workers, a stall_report of a completion thread. At most once in `between_stalls`.
  bool at_stall = true;
  std::chrono::nanoseconds between_stalls = std::chrono::seconds(10);
};

}  // namespace tandem::inline v0
