// fair_stage.hpp: a scheduler of fair queues on a runtime that the test drives turn by turn.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tandem/fair_scheduler.hpp>
#include <utility>
#include <vector>

#include "runtime/executors/executor_support.hpp"

namespace tandem::test {

/// Runs for ever, one segment after the other, until it is stopped.
inline task<void> loops(std::string& log, char letter) {
  while (true) {
    log += letter;
    co_await tandem::yield();
  }
}

inline std::map<char, std::size_t> counts(const std::string& log) {
  std::map<char, std::size_t> of;
  for (const char each : log) ++of[each];
  return of;
}

/// Spawns everything in a runtime that nobody runs yet, then gives it `items` of the pool's turns.
class stage {
 public:
  explicit stage(runtime_options options = driven()) : rt(std::move(options)), fair(rt.workers()) {}

  void loop(fair_queue& queue, char letter, int tasks = 1) {
    for (int i = 0; i < tasks; ++i) all.push_back(rt.spawn(queue, loops(log, letter)));
  }
  void batch(fair_queue& queue, char letter, int items) {
    for (int i = 0; i < items; ++i) rt.spawn(queue, note(log, letter)).detach();
  }
  void run(std::size_t items) {
    while (log.size() < items) (void)rt.poll(1);
  }
  ~stage() {
    for (auto& each : all) {
      each.cancel();
      each.detach();
    }
  }
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  std::string log;
  runtime rt;
  fair_scheduler fair;
  std::vector<join_handle<void>> all;
};

}  // namespace tandem::test
