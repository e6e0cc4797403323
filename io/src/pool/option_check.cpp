// option_check.cpp: a rule for each option, and what is said of whoever breaks it.
// SPDX-License-Identifier: MIT
#include "pool/option_check.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <stdexcept>
#include <string>
#include <tandem/cpu_count.hpp>

namespace tandem::inline v0::io {

namespace {

[[noreturn]] void refuse(const char* option, const std::string& is, const std::string& rule) {
  throw std::invalid_argument(std::string("completion_options::") + option + " is " + is +
                              ": it has to be " + rule);
}

void check(bool right, const char* option, unsigned is, const std::string& rule) {
  if (!right) refuse(option, std::to_string(is), rule);
}

}  // namespace

completion_options validated(completion_options options) {
  const unsigned least = options.min_threads;
  check(least >= 1 && least <= 1024, "min_threads", least, "between 1 and 1024");
  if (options.max_threads == 0) {
    // growth/follow. There may be more CPUs later: so many threads can be had then.
    const unsigned cpus = usable_cpus();
    const unsigned room = std::min(present_cpus(), std::max(4 * cpus, 64U));
    options.max_threads = std::max({least, cpus, options.adaptive.enabled ? room : 1U});
  }
  check(options.max_threads >= least && options.max_threads <= 1024, "max_threads",
        options.max_threads,
        "between min_threads (" + std::to_string(least) + ") and 1024, or 0 for the usable CPUs");
  check(options.ring_entries >= 1, "ring_entries", options.ring_entries, "at least 1");
  const unsigned buffers = options.receive_buffers;
  check(std::has_single_bit(buffers) && buffers <= 32768, "receive_buffers", buffers,
        "a power of two of at most 32768");
  check(options.max_receive_buffers >= buffers && options.max_receive_buffers <= 65536,
        "max_receive_buffers", options.max_receive_buffers,
        "between receive_buffers (" + std::to_string(buffers) + ") and 65536");
  check(options.receive_buffer_bytes >= 1, "receive_buffer_bytes", options.receive_buffer_bytes,
        "at least 1");
  if (options.stall_threshold.count() < 0) {
    refuse("stall_threshold", std::to_string(options.stall_threshold.count()) + " ms",
           "at least 0 (no watch)");
  }
  // It becomes nanoseconds, and is added to the time: milliseconds::max() would come round to -1
  // ms.
  constexpr std::chrono::milliseconds for_ever = std::chrono::hours(24 * 365);
  options.stall_threshold = std::min(options.stall_threshold, for_ever);
  options.adaptive.validate();
  return options;
}

}  // namespace tandem::inline v0::io
