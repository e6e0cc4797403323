// semaphores.cpp: cases semaphore*: permits that are free, and two permits for eight tasks.
// SPDX-License-Identifier: MIT
#include <tandem/semaphore.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

task<void> acquire_release(long n) {
  semaphore s(problems::permits);
  for (long i = 0; i < n; ++i) {
    co_await s.acquire();
    s.release();
  }
}

task<void> hold_and_yield(semaphore& s, long n) {
  for (long i = 0; i < n; ++i) {
    const auto permit = co_await s.scoped();
    co_await yield();
  }
}

task<void> contended(long n) {
  semaphore s(problems::permits);
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (long i = 0; i < problems::tasks; ++i) scope.spawn(hold_and_yield(s, n / problems::tasks));
    co_return;
  });
}

}  // namespace

void add_semaphores(case_list& cases) {
  cases.push_back(looped(problems::semaphore, acquire_release));
  cases.push_back(looped(problems::semaphore_contended, contended));
  cases.push_back(looped(problems::allocs_semaphore, contended));
}

}  // namespace tandem::bench
