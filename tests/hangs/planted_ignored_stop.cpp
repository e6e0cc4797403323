// planted_ignored_stop.cpp: a task that was asked to stop goes on for weeks, and another one waits for its end.
// SPDX-License-Identifier: MIT
//
// The mistake: no page may be stored by half, so the author has shielded the whole loop, instead of
// each single page in it.
#include <chrono>
#include <cstdio>

#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/run.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>

#include "planted.hpp"

namespace {

using namespace std::chrono_literals;

struct archive {
  long pages = 1'000'000'000;
  long stored = 0;
  tandem::event begun;
};

tandem::task<void> store_pages(archive& self) {
  for (; self.stored < self.pages; ++self.stored) {
    self.begun.set();
    co_await tandem::sleep_for(1ms);  // no more than the disk can take
  }
}

tandem::task<void> store(archive& self) {
  co_await tandem::shielded(store_pages(self));  // culprit(shield): no stop comes through here
}

tandem::task<int> close_archive() {
  archive self;
  auto storing = tandem::spawn(store(self));  // culprit(store): it was asked to stop
  co_await self.begun.wait();
  storing.cancel();
  planted::stuck();
  const auto ended = co_await tandem::as_result(storing);  // culprit(join): waits for its end
  std::printf("%ld pages, %s\n", self.stored, ended.is_cancelled() ? "stopped" : "all");
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tandem::runtime owner(planted::options(argc, argv));
  return owner.spawn(close_archive()).wait();  // culprit(closing): waits for the end of the other
}
