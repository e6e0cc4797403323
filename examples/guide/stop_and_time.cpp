// stop_and_time.cpp: time limits, stops, and what must happen all the same.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/finally.hpp>
#include <tandem/retry.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>

using namespace std::chrono_literals;
using tandem::task;

task<std::string> ask(std::chrono::milliseconds takes) {
  co_await tandem::sleep_for(takes);
  co_return "an answer";
}

// A limit for whatever stands in it, however deep.
task<std::string> in_time() {
  auto asked = co_await tandem::as_result(tandem::with_timeout(20ms, ask(1h)));
  if (asked) co_return asked.value();
  const auto why = asked.reason();  // none: it has failed, and was not stopped
  co_return why ? std::string("no answer: ") + to_string(*why) : "it failed";
}

// Three attempts with growing pauses between them, each with a limit of its own.
task<std::string> patient() {
  int attempts = 0;
  co_return co_await tandem::retry([&] {
    const auto takes = ++attempts < 3 ? 1h : 1ms;
    return tandem::with_timeout(100ms, ask(takes));
  });
}

// Code that computes has no wait that a stop could end, so it asks.
task<long> count_to(long limit) {
  long count = 0;
  for (; count < limit; ++count) tandem::throw_if_stopped();
  co_return count;
}

// The clean-up runs however the work has ended, and is not stopped with it.
task<void> careful(tandem::event& begun, bool& closed) {
  begun.set();
  co_await tandem::finally(ask(1h), [&]() -> task<void> {
    co_await tandem::sleep_for(1ms);
    closed = true;
  });
}

task<int> all_of_them() {
  const std::string late = co_await in_time();
  const std::string third = co_await patient();

  auto counting = tandem::spawn(count_to(std::numeric_limits<long>::max()));
  counting.cancel();
  const auto count = co_await tandem::as_result(counting);

  bool closed = false;
  tandem::event begun;
  auto working = tandem::spawn(careful(begun, closed));
  co_await begun.wait();
  working.cancel();
  const auto worked = co_await tandem::as_result(working);

  std::printf("%s; %s; %s\n", late.c_str(), third.c_str(), closed ? "closed" : "left open");
  const bool right = late == "no answer: deadline" && third == "an answer" &&
                     count.is_cancelled() && worked.is_cancelled() && closed;
  co_return right ? 0 : 1;
}

int main() { return tandem::run(all_of_them()); }
