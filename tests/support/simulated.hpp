// simulated.hpp: runtimes by a virtual clock, and work that takes virtual time.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <tandem/detail/timer_service.hpp>
#include <tandem/environment.hpp>
#include <tandem/runtime.hpp>
#include <tandem/virtual_time.hpp>

namespace tandem::test {

inline runtime_options simulated(std::uint64_t seed, unsigned workers = 1) {
  runtime_options options;
  options.clock = virtual_time(seed, workers);
  return options;
}

/// Work of the calling task: nobody but the running task moves the clock meanwhile.
inline void work(std::chrono::nanoseconds time) {
  detail::timer_service& timers = detail::timers_of(*current_environment()->runtime());
  timers.advance_to(timers.now() + time);
}

}  // namespace tandem::test
