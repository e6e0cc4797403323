// tasks.cpp: the same with tasks: each item is a coroutine with a frame, a handle and a place in the count of tasks.
// SPDX-License-Identifier: MIT
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>

#include "suite.hpp"

namespace tandem::bench::pool {

namespace {

task<void> counted() {
  tally::count();
  co_return;
}

task<void> link(long left) {
  if (left > 1) spawn(link(left - 1)).detach();
  tally::count();
  co_return;
}

class spawns {
 public:
  spawns(int threads, long) : runtime_(fixed(threads)) {}

  void post(long, long count) {
    for (long i = 0; i < count; ++i) runtime_.spawn(counted()).detach();
  }
  void start(long length) { runtime_.spawn(link(length)).detach(); }

 private:
  runtime runtime_;
};

}  // namespace

void add_tasks(case_list& cases) {
  for (const problem& each : {post_1, post_4, outside_1, outside_4}) {
    cases.push_back(posted<spawns>(each, "tandem_spawn", "self"));
  }
  cases.push_back(chained<spawns>("tandem_spawn", "self"));
}

}  // namespace tandem::bench::pool
