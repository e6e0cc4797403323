// idle_process.cpp: a process whose runtime has worked and now has nothing to do: see check_idle.py.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/yield.hpp>

namespace {

tandem::task<void> works(std::atomic<int>& left) {
  for (int i = 0; i < 100; ++i) co_await tandem::yield();
  co_await tandem::sleep_for(std::chrono::milliseconds(1));
  --left;
}

tandem::task<void> sleeps() { co_await tandem::sleep_for(std::chrono::hours(10)); }

}  // namespace

/// idle_process FILE SECONDS: writes FILE once it is idle, and stays so for some seconds.
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  tandem::runtime_options options;
  options.min_threads = 4;
  tandem::runtime owner(options);
  // A timer that is far away keeps nobody awake.
  auto far_away = owner.spawn(sleeps());
  std::atomic<int> left{100};
  for (int i = 0; i < 100; ++i) owner.spawn(works(left)).detach();
  while (left != 0) std::this_thread::yield();
  std::ofstream(argv[1]) << "idle\n";
  std::this_thread::sleep_for(std::chrono::seconds(std::atoi(argv[2])));
  (void)far_away.cancel();
  return 0;
}
