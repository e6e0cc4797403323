// suite.hpp: the cases of suite sync that are tandem's own, one source file for each area.
// SPDX-License-Identifier: MIT
#pragma once

#include "../workers.hpp"
#include "problems.hpp"

namespace tandem::bench {

void add_locks(case_list& cases);
void add_semaphores(case_list& cases);
void add_events(case_list& cases);
void add_channels(case_list& cases);
void add_channel_kinds(case_list& cases);
void add_selects(case_list& cases);
void add_shared_locks(case_list& cases);
void add_streams(case_list& cases);
void add_groups(case_list& cases);
void add_cancels(case_list& cases);
void add_timers(case_list& cases);

inline case_list sync_cases() {
  case_list cases;
  add_locks(cases);
  add_shared_locks(cases);
  add_semaphores(cases);
  add_events(cases);
  add_channels(cases);
  add_channel_kinds(cases);
  add_selects(cases);
  add_streams(cases);
  add_groups(cases);
  add_cancels(cases);
  add_timers(cases);
  return cases;
}

/// A loop of tasks: `body(n)` is one.
inline bench_case looped(const problem& of, task<void> (*body)(long)) {
  return looped<workers>(of, "tandem", "self", body);
}

}  // namespace tandem::bench
