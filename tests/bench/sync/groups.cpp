// groups.cpp: cases when_all_8_* and scope_1000: children that are started together and awaited together.
// SPDX-License-Identifier: MIT
#include <tandem/fork_join.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <tuple>

#include "suite.hpp"

namespace tandem::bench {

namespace {

task<long> ready(long value) { co_return value; }

task<long> yielding(long value) {
  co_await yield();
  co_return value;
}

template <auto Make>
task<void> groups_of(long n) {
  for (long i = 0; i < n; ++i) {
    const auto values =
        co_await when_all(Make(0), Make(1), Make(2), Make(3), Make(4), Make(5), Make(6), Make(7));
    const long sum = std::apply([](auto... each) { return (each + ...); }, values);
    expect_equal(sum, 28L, "the sum");
  }
}

template <auto Make>
task<void> forks_of(long n) {
  for (long i = 0; i < n; ++i) {
    const auto values =
        co_await fork_join(Make(0), Make(1), Make(2), Make(3), Make(4), Make(5), Make(6), Make(7));
    const long sum = std::apply([](auto... each) { return (each + ...); }, values);
    expect_equal(sum, 28L, "the sum");
  }
}

task<void> store(long& at, long value) {
  at = value;
  co_return;
}

task<void> scopes(long n) {
  std::vector<long> values(problems::scope_size);
  for (long i = 0; i < n / problems::scope_size; ++i) {
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (long value = 0; value < problems::scope_size; ++value) {
        scope.spawn(store(values[static_cast<std::size_t>(value)], value));
      }
      co_return;
    });
    long sum = 0;
    for (const long value : values) sum += value;
    expect_equal(sum, problems::scope_size * (problems::scope_size - 1) / 2, "the sum");
  }
}

}  // namespace

void add_groups(case_list& cases) {
  cases.push_back(looped(problems::when_all_8_ready, groups_of<ready>));
  cases.push_back(looped(problems::when_all_8_yield, groups_of<yielding>));
  cases.push_back(looped(problems::fork_join_8_ready, forks_of<ready>));
  cases.push_back(looped(problems::fork_join_8_yield, forks_of<yielding>));
  cases.push_back(looped(problems::scope_1000, scopes));
  cases.push_back(looped(problems::allocs_when_all, groups_of<yielding>));
  cases.push_back(looped(problems::allocs_scope, scopes));
}

}  // namespace tandem::bench
