// shared_locks.cpp: cases read_*: a shared_mutex that one task reads, several read, some write.
// SPDX-License-Identifier: MIT
#include <mutex>
#include <shared_mutex>
#include <tandem/shared_mutex.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

struct state {
  shared_mutex m;
  long value = 1;
};

task<void> read_unlock(long n) {
  state s;
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    co_await s.m.lock_shared();
    sum += s.value;
    s.m.unlock_shared();
  }
  expect_equal(sum, n, "the sum");
}

task<void> read(state& s, long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    const auto guard = co_await s.m.scoped_lock_shared();
    sum += s.value;
  }
  expect_equal(sum, n, "the sum");
}

task<void> read_contended(long n) {
  state s;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (long i = 0; i < problems::tasks; ++i) scope.spawn(read(s, n / problems::tasks));
    co_return;
  });
}

task<void> read_or_write(state& s, long n) {
  for (long i = 0; i < n; ++i) {
    if (i % 100 == 0) {
      const auto guard = co_await s.m.scoped_lock();
      ++s.value;
      co_await yield();
    } else {
      const auto guard = co_await s.m.scoped_lock_shared();
      const long seen = s.value;
      co_await yield();
      expect_equal(s.value, seen, "the value that is read");
    }
  }
}

task<void> read_mostly(long n) {
  state s;
  const long each = n / problems::tasks;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (long i = 0; i < problems::tasks; ++i) scope.spawn(read_or_write(s, each));
    co_return;
  });
  expect_equal(s.value, 1 + (each + 99) / 100 * problems::tasks, "the value");
}

double std_shared_mutex(int) {
  std::shared_mutex m;
  const long value = 1;
  return nanoseconds(scaled(problems::read_unlock.n), [&](long n) {
    long sum = 0;
    for (long i = 0; i < n; ++i) {
      const std::shared_lock guard(m);
      sum += value;
    }
    expect_equal(sum, n, "the sum");
  });
}

}  // namespace

void add_shared_locks(case_list& cases) {
  cases.push_back(row(problems::read_unlock, "std_shared_mutex", "floor", std_shared_mutex));
  cases.push_back(looped(problems::read_unlock, read_unlock));
  cases.push_back(looped(problems::read_contended, read_contended));
  cases.push_back(looped(problems::read_mostly, read_mostly));
}

}  // namespace tandem::bench
