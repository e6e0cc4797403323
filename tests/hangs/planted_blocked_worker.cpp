// planted_blocked_worker.cpp: the only worker sits in a call that blocks, while others could run.
// SPDX-License-Identifier: MIT
//
// The mistake: a driver's call that waits for the device is made in a task, instead of in blocking().
#include <atomic>
#include <chrono>
#include <thread>

#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>

#include "planted.hpp"

namespace {

using namespace std::chrono_literals;

// Another library's: it returns when the tape has been wound to its end.
void wind_tape() {
  planted::stuck();
  std::this_thread::sleep_for(24h);
}

tandem::task<void> import_tape(std::atomic<bool>& imported) {
  wind_tape();
  imported = true;
  co_return;
}

tandem::task<void> build_index(const std::atomic<bool>& imported) {
  while (!imported) co_await tandem::yield();  // a document each time
}

tandem::task<int> library() {
  std::atomic<bool> imported{false};
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    for (int shelf = 0; shelf < 3; ++shelf) {
      scope.spawn(build_index(imported));  // culprit(index): these could run
    }
    scope.spawn(import_tape(imported));  // culprit(tape): it has the worker
    co_return;
  });
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tandem::runtime_options options = planted::options(argc, argv);
  options.min_threads = 1;
  options.max_threads = 1;
  return tandem::run(library(), options);
}
