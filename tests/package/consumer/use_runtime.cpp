// use_runtime.cpp: a user's program on tandem::runtime alone.
// SPDX-License-Identifier: MIT
//
// It crosses the library's border in both directions: symbols, a coroutine resumed by the library,
// a timer, and an exception type thrown inside the library and caught here by its own type.
#include <chrono>
#include <cstdio>
#include <tandem/errors.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task.hpp>
#include <tandem/timeout.hpp>
#include <tandem/version.hpp>

using namespace std::chrono_literals;

namespace {

tandem::task<int> fibonacci(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fibonacci(n - 1), fibonacci(n - 2));
  co_return a + b;
}

tandem::task<void> sleep_an_hour() { co_await tandem::sleep_for(1h); }

tandem::task<bool> a_deadline_ends_a_long_sleep() {
  try {
    co_await tandem::with_timeout(1ms, sleep_an_hour());
  } catch (const tandem::operation_cancelled&) {
    co_return true;
  }
  co_return false;
}

}  // namespace

int main() {
  if (tandem::version() != TANDEM_VERSION_STRING) return 1;
  if (tandem::run(fibonacci(15)) != 610) return 2;
  if (!tandem::run(a_deadline_ends_a_long_sleep())) return 3;
  std::puts("use_runtime: ok");
}
