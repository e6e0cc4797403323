// virtual_support.hpp: a runtime that the test drives, by a virtual clock.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/runtime.hpp>
#include <tandem/virtual_time.hpp>

#include "runtime/support/sync_support.hpp"

namespace tandem::test {

inline runtime_options on_virtual_clock(unsigned seed = 1, unsigned workers = 1) {
  runtime_options options = with_threads(0);
  options.clock = virtual_time(seed, workers);
  return options;
}

}  // namespace tandem::test
