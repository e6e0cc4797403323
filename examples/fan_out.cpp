// fan_out.cpp: starts tasks beside each other, three ways.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <iostream>
#include <numeric>
#include <tandem/fork_join.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

using namespace std::chrono_literals;

tandem::task<int> fetch(int number) {
  co_await tandem::sleep_for(20ms);  // waiting holds no thread
  co_return number* number;
}

tandem::task<void> add(int number, std::atomic<int>& sum) { sum += co_await fetch(number); }

tandem::task<int> fan_out() {
  // 1. Any number of children of one type, awaited together.
  std::vector<tandem::task<int>> children;
  for (int i = 0; i < 1000; ++i) children.push_back(fetch(i));
  const std::vector<int> squares = co_await tandem::fork_join(std::move(children));
  const int joined = std::accumulate(squares.begin(), squares.end(), 0);

  // 2. A scope: children that end before it does. If one fails, the others are stopped.
  std::atomic<int> scoped = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    for (int i = 0; i < 1000; ++i) scope.spawn(add(i, scoped));
    co_return;
  });

  // 3. A handle: start now, await later.
  auto handle = tandem::spawn(fetch(12));
  const int spawned = co_await handle;

  std::cout << "joined " << joined << ", scoped " << scoped << ", spawned " << spawned << '\n';
  co_return joined == 332'833'500 && scoped == joined&& spawned == 144 ? 0 : 1;
}

int main() {
  const auto began = std::chrono::steady_clock::now();
  const int status = tandem::run(fan_out());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << "2001 waits of 20 ms took " << took.count() << " s\n";
  return status;
}
