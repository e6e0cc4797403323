// mirrors.cpp: the first of several answers, with attempts and limits; tried in virtual time.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <tandem/race.hpp>
#include <tandem/retry.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <vector>

using namespace std::chrono_literals;
using tandem::task;

struct mirror {
  const char* page;
  std::chrono::seconds takes;
};

task<std::string> ask(const mirror& from) {
  co_await tandem::sleep_for(from.takes);
  co_return from.page;
}

task<std::string> fetch_any(std::span<const mirror> mirrors) {
  std::vector<task<std::string>> asked;
  for (const mirror& each : mirrors)
    asked.push_back(tandem::retry([&each] { return tandem::with_timeout(20s, ask(each)); }));
  co_return co_await tandem::race(std::move(asked));  // the others are stopped
}

int main() {
  const std::vector<mirror> mirrors{{"hangs", 3600s}, {"slow", 15s}, {"quick", 10s}};
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);  // seconds pass in microseconds
  const std::string page = tandem::run(fetch_any(mirrors), options);
  std::printf("%s\n", page.c_str());
  return page == "quick" ? 0 : 1;
}
