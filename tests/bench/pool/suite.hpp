// suite.hpp: the cases of suite pool that are tandem's own, and its set of threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/runtime.hpp>

#include "problems.hpp"

namespace tandem::bench::pool {

void add_posts(case_list& cases);
void add_tasks(case_list& cases);
void add_submissions(case_list& cases);
void add_controller_costs(case_list& cases);
void add_hook_costs(case_list& cases);

inline case_list pool_cases() {
  case_list cases;
  add_posts(cases);
  add_tasks(cases);
  add_submissions(cases);
  add_controller_costs(cases);
  add_hook_costs(cases);
  return cases;
}

/// So many workers, no more and no less, as the peers have.
inline runtime_options fixed(int threads) {
  runtime_options options;
  options.min_threads = static_cast<unsigned>(threads);
  options.max_threads = options.min_threads;
  return options;
}

}  // namespace tandem::bench::pool
