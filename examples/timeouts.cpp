// timeouts.cpp: time limits, and what a task sees when it is stopped.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <iostream>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/errors.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

using namespace std::chrono_literals;

tandem::task<std::string> fetch(std::chrono::milliseconds takes) {
  co_await tandem::sleep_for(takes);
  co_return "a page";
}

// Work that never waits has to ask now and then: yield() throws when a stop was requested.
tandem::task<void> compute_for_ever() {
  while (true) co_await tandem::yield();
}

tandem::task<int> timeouts() {
  int mistakes = 0;

  // In time: the value.
  const std::string page = co_await tandem::with_timeout(10s, fetch(5ms));
  if (page != "a page") ++mistakes;

  // Too late: operation_cancelled, whose reason says why.
  try {
    co_await tandem::with_timeout(20ms, fetch(10s));
    ++mistakes;
  } catch (const tandem::operation_cancelled& cancelled) {
    std::cout << "too slow: " << tandem::to_string(cancelled.reason()) << '\n';
    if (cancelled.reason() != tandem::stop_reason::deadline) ++mistakes;
  }

  // The same without exceptions.
  const auto result = co_await tandem::as_result(tandem::with_timeout(20ms, compute_for_ever()));
  if (!result.is_cancelled()) ++mistakes;

  // By hand: whoever holds the handle may stop the task; it ends at its next await.
  auto handle = tandem::spawn(fetch(10s));
  handle.cancel();
  const auto stopped = co_await tandem::as_result(handle);
  if (!stopped.is_cancelled()) ++mistakes;
  co_return mistakes;
}

int main() {
  const int mistakes = tandem::run(timeouts());
  std::cout << (mistakes == 0 ? "as expected\n" : "something is wrong\n");
  return mistakes == 0 ? 0 : 1;
}
