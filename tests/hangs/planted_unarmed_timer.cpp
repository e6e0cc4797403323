// planted_unarmed_timer.cpp: caches wait for the tick of a clock that nobody has started.
// SPDX-License-Identifier: MIT
//
// The mistake: a task is lazy. The one that ticks is made and kept, but neither spawned nor awaited,
// so its interval is never begun, and no timer is armed in the whole program.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>

#include <tandem/event.hpp>
#include <tandem/interval.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>

#include "planted.hpp"

namespace {

using namespace std::chrono_literals;

constexpr int caches = 5;

struct shop {
  tandem::event outdated;
  tandem::task<void> clock;

  // The last cache to get there.
  void arrived() {
    if (++there_ == caches) planted::stuck();
  }

 private:
  std::atomic<int> there_{0};
};

tandem::task<void> tick(shop& self, std::chrono::milliseconds period) {
  tandem::interval every(period);
  while (true) {
    co_await every.tick();
    self.outdated.set();
    self.outdated.reset();
  }
}

tandem::task<void> keep_fresh(shop& self, int number) {
  for (int loads = 0; loads < 3; ++loads) {
    self.arrived();
    co_await self.outdated.wait();  // culprit(wait): nobody ticks
  }
  std::puts(("cache " + std::to_string(number) + " is closed").c_str());
}

tandem::task<int> open() {
  shop self;
  self.clock = tick(self, 50ms);
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    for (int number = 1; number <= caches; ++number) {
      scope.spawn(keep_fresh(self, number));  // culprit(cache): these wait for a tick
    }
    co_return;
  });
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) { return tandem::run(open(), planted::options(argc, argv)); }
