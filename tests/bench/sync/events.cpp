// events.cpp: case ping_pong: two tasks that wake each other by an event each.
// SPDX-License-Identifier: MIT
#include <tandem/event.hpp>
#include <tandem/task_scope.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

task<void> answer(event& ping, event& pong, long n) {
  for (long i = 0; i < n; ++i) {
    co_await ping.wait();
    ping.reset();
    pong.set();
  }
}

task<void> ping_pong(long n) {
  event ping, pong;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(answer(ping, pong, n));
    for (long i = 0; i < n; ++i) {
      ping.set();
      co_await pong.wait();
      pong.reset();
    }
  });
}

}  // namespace

void add_events(case_list& cases) {
  cases.push_back(looped(problems::ping_pong, ping_pong));
  cases.push_back(looped(problems::allocs_ping_pong, ping_pong));
}

}  // namespace tandem::bench
