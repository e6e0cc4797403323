// hooks.cpp: cases hooks_*: what it costs that a runtime tells of its tasks, times, counts or records them.
// SPDX-License-Identifier: MIT
//
// A runtime without threads, which this thread drives: nothing but the tasks and what is told of
// them takes time.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

#include "suite.hpp"

namespace tandem::bench::pool {

namespace {

constexpr long tasks_of_a_round = 1'000;

/// A chain of multiplications that no processor shortens: about a microsecond.
[[gnu::noinline]] std::uint64_t compute(std::uint64_t seed) {
  for (int i = 0; i < 620; ++i) seed = seed * 0x9E3779B97F4A7C15U + 1;
  return seed;
}

std::uint64_t computed = 0;

task<void> one_microsecond() {
  computed += compute(computed);
  co_return;
}
task<void> nothing() {
  ++computed;
  co_return;
}
task<void> in_two_parts() {
  computed += compute(computed);
  co_await yield();
  computed += compute(computed);
}

/// What hooks do at the least.
struct tallies {
  std::uint64_t begun = 0;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::int64_t latency_ns = 0;
};

enum class told : std::uint8_t { nothing, ends, all, counted, recorded };

runtime_options options_of(told what, std::uint32_t one_in, std::uint32_t timed_one_in,
                           tallies& into) {
  runtime_options options;
  options.min_threads = 0;
  options.timed_tasks_one_in = timed_one_in;
  options.hooks.one_in = one_in;
  options.count_tasks_by_name = what == told::counted;
  if (what != told::ends && what != told::all) return options;
  options.hooks.on_task_end = [&into](const task_event& task) {
    into.latency_ns += (task.queue_wait + task.run + task.suspended).count();
  };
  if (what == told::ends) return options;
  options.hooks.on_task_begin = [&into](const task_event&) { ++into.begun; };
  options.hooks.before_segment = [&into](const task_event&) { ++into.before; };
  options.hooks.after_segment = [&into](const task_event&) { ++into.after; };
  return options;
}

using task_maker = task<void> (*)();

double measure(runtime& of, task_maker make, long tasks) {
  const long lots = std::max(1L, scaled(tasks) / tasks_of_a_round);
  const auto run_lots = [&](long count) {
    for (long i = 0; i < count; ++i) {
      for (long k = 0; k < tasks_of_a_round; ++k) of.spawn(make()).detach();
      of.run_until_idle();
    }
  };
  run_lots(1 + lots / 10);
  return nanoseconds_per(static_cast<double>(lots * tasks_of_a_round), [&] { run_lots(lots); });
}

struct item_kind {
  const char* name;
  const char* input;
  task_maker make;
};

bench_case row_of(const item_kind& kind, const char* impl, told what, std::uint32_t one_in,
                  std::uint32_t timed_one_in) {
  bench_case row{.name = kind.name,
                 .impl = impl,
                 .role = "self",
                 .unit = "ns/task",
                 .better = "lower",
                 .input = kind.input,
                 .threads = {1},
                 .sample = {}};
  row.sample = [=, make = kind.make](int) {
    tallies seen;
    runtime observed(options_of(what, one_in, timed_one_in, seen));
    if (what == told::recorded) observed.trace_to("");
    return measure(observed, make, 100'000);
  };
  return row;
}

}  // namespace

void add_hook_costs(case_list& cases) {
  constexpr item_kind kinds[] = {
      {"hooks_empty", "tasks that do nothing are spawned, run and end", &nothing},
      {"hooks_1us", "the same with tasks of a microsecond", &one_microsecond},
      {"hooks_yield", "tasks of twice a microsecond, with a yield between", &in_two_parts}};
  for (const item_kind& kind : kinds) {
    cases.push_back(row_of(kind, "none", told::nothing, 1, 0));
    cases.push_back(row_of(kind, "on_task_end", told::ends, 1, 0));
    cases.push_back(row_of(kind, "all_hooks", told::all, 1, 0));
    cases.push_back(row_of(kind, "all_hooks_one_in_16", told::all, 16, 0));
    cases.push_back(row_of(kind, "timed", told::nothing, 1, 1));
    cases.push_back(row_of(kind, "timed_one_in_16", told::nothing, 1, 16));
    cases.push_back(row_of(kind, "counted_by_name", told::counted, 1, 0));
    cases.push_back(row_of(kind, "recorded", told::recorded, 1, 0));
  }
}

}  // namespace tandem::bench::pool
