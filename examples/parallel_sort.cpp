// parallel_sort.cpp: sorts numbers on all workers, and as often with std::sort.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <tandem/parallel_sort.hpp>
#include <tandem/run.hpp>
#include <vector>

// A task: the calling coroutine waits, its worker does not.
tandem::task<void> sort_all(std::vector<int>& values) { co_await tandem::parallel_sort(values); }

int main() {
  std::mt19937 random(2024);
  std::vector<int> values(2'000'000);
  for (int& value : values) value = static_cast<int>(random() % 1'000'000);
  std::vector<int> expected = values;

  using clock = std::chrono::steady_clock;
  const auto began = clock::now();
  std::sort(expected.begin(), expected.end());
  const auto between = clock::now();
  tandem::run(sort_all(values));
  const auto ended = clock::now();

  using milliseconds = std::chrono::duration<double, std::milli>;
  std::cout << "std::sort " << milliseconds(between - began).count() << " ms, parallel_sort "
            << milliseconds(ended - between).count() << " ms\n";
  return values == expected ? 0 : 1;
}
