// uncalled.cpp: a function that returns a task, given where the task is wanted.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <tandem/fork_join.hpp>
#include <tandem/run.hpp>
#include <tandem/timeout.hpp>

namespace {

tandem::task<int> number() { co_return 1; }

tandem::task<int> wait(int more) {
  const auto later = [more]() -> tandem::task<int> { co_return more; };
  const auto limit = std::chrono::seconds(1);
  const auto deadline = std::chrono::steady_clock::now() + limit;
#if defined(TANDEM_CONTROL)
  const auto [a, b] = co_await tandem::fork_join(number(), later());
  (void)co_await tandem::with_deadline(deadline, later());
  co_return a + b + co_await tandem::with_timeout(limit, later());
#elif defined(TANDEM_CASE_timeout)
  co_return co_await tandem::with_timeout(limit, later);
#elif defined(TANDEM_CASE_temporary)
  tandem::with_timeout(limit, [more]() -> tandem::task<int> { co_return more; });
#elif defined(TANDEM_CASE_deadline)
  tandem::with_deadline(deadline, later);
#elif defined(TANDEM_CASE_fork)
  const auto [a, b] = co_await tandem::fork_join(number(), later);
  co_return a + b;
#endif
  (void)deadline;
  co_return co_await later() + co_await number();
}

}  // namespace

int main() { return tandem::run(wait(-2)); }
