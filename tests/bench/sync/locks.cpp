// locks.cpp: cases lock_*: a mutex that nobody else wants, that others want, and that is handed over each time.
// SPDX-License-Identifier: MIT
#include <mutex>
#include <tandem/mutex.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

task<void> lock_unlock(long n) {
  mutex m;
  long count = 0;
  for (long i = 0; i < n; ++i) {
    co_await m.lock();
    ++count;
    m.unlock();
  }
  expect_equal(count, n, "the count");
}

task<void> increment(mutex& m, long& count, long n) {
  for (long i = 0; i < n; ++i) {
    const auto guard = co_await m.scoped_lock();
    ++count;
  }
}

task<void> increment_and_yield(mutex& m, long& count, long n) {
  for (long i = 0; i < n; ++i) {
    const auto guard = co_await m.scoped_lock();
    ++count;
    co_await yield();
  }
}

template <auto Body>
task<void> contended(long n) {
  mutex m;
  long count = 0;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (long i = 0; i < problems::tasks; ++i) scope.spawn(Body(m, count, n / problems::tasks));
    co_return;
  });
  expect_equal(count, n / problems::tasks * problems::tasks, "the count");
}

double std_mutex(int) {
  std::mutex m;
  long count = 0;
  return nanoseconds(scaled(problems::lock_unlock.n), [&](long n) {
    for (long i = 0; i < n; ++i) {
      const std::lock_guard guard(m);
      ++count;
    }
  });
}

}  // namespace

void add_locks(case_list& cases) {
  cases.push_back(row(problems::lock_unlock, "std_mutex", "floor", std_mutex));
  cases.push_back(looped(problems::lock_unlock, lock_unlock));
  cases.push_back(looped(problems::lock_contended, contended<increment>));
  cases.push_back(looped(problems::lock_handover, contended<increment_and_yield>));
  cases.push_back(looped(problems::allocs_lock, contended<increment_and_yield>));
}

}  // namespace tandem::bench
