// virtual_time_test.cpp: a test of a service that polls and retries: a day of virtual time in a moment.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tandem/interval.hpp>
#include <tandem/retry.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

using namespace std::chrono_literals;
using tandem::task;

// The service under test. It knows nothing of the test: it asks tandem what time it is.
struct weather_poller {
  std::string town;
  std::vector<std::string>& events;
  int calls = 0;

  task<int> ask() {
    ++calls;
    co_await tandem::sleep_for(calls % 7 == 0 ? 30s : 200ms);  // now and then it hangs
    if (calls % 5 == 0) throw std::runtime_error("busy");
    co_return 20 + calls % 10;
  }

  task<void> poll_every(std::chrono::minutes period, int times) {
    tandem::interval every(period);
    for (int i = 0; i < times; ++i) {
      co_await every.tick();
      const int degrees = co_await tandem::retry([this] { return tandem::with_timeout(5s, ask()); },
                                                 tandem::retry_options().attempts(4));
      events.push_back(town + " " + std::to_string(degrees));
    }
  }
};

task<void> a_day(std::vector<std::string>& events) {
  std::vector<weather_poller> pollers;
  for (const char* town : {"Oslo", "Lima", "Cairo", "Kyoto"}) pollers.push_back({town, events});
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (weather_poller& each : pollers) scope.spawn(each.poll_every(1min, 24 * 60));
    co_return;
  });
}

std::vector<std::string> events_of(std::uint64_t seed) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(seed, 2);  // two logical workers
  options.on_suppressed_exception = [](const std::exception_ptr&) {};
  std::vector<std::string> events;
  tandem::run(a_day(events), options);
  return events;
}

int main() {
  const auto began = std::chrono::steady_clock::now();
  const std::vector<std::string> first = events_of(1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << "a day of " << first.size() << " reports took " << took.count() << " s\n";

  const bool same = first == events_of(1);
  const bool other = first != events_of(2);
  std::cout << "seed 1 again: " << (same ? "the same events in the same order" : "DIFFERENT")
            << "\n"
            << "seed 2: " << (other ? "another order" : "THE SAME ORDER") << "\n";
  return first.size() == 4 * 24 * 60 && same && other ? 0 : 1;
}
