// blocking_options.hpp: how many threads a runtime keeps for calls that block.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// How blocking() of a runtime behaves: the member `blocking` of runtime_options.
///
///     tandem::runtime_options options;
///     options.blocking.max_threads = 16;
///     tandem::runtime rt(options);
class TANDEM_API blocking_options {
 public:
  static constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

  /// Reads TANDEM_BLOCKING_THREADS. @throws std::invalid_argument if it is no number of at least 1
  blocking_options();

  /// Calls that run at once; the rest queues. At least 1. TANDEM_BLOCKING_THREADS; default 512.
  unsigned max_threads;
  /// How long a thread without work stays.
  std::chrono::milliseconds keep_alive{10'000};
  /// Calls that may wait for a thread while all are busy; a further one throws. 0: none waits.
  std::size_t queue_limit = unlimited;
};

}  // namespace tandem::inline v0
