// parallel_sort.cpp: quicksort by recursive fork and join.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <span>
#include <tandem/fork_join.hpp>
#include <tandem/run.hpp>
#include <vector>

// Below this size, sorting at once is cheaper than sharing the work.
constexpr std::ptrdiff_t grain = 4096;

tandem::task<void> parallel_sort(std::span<int> values) {
  const auto begin = values.begin();
  const auto end = values.end();
  if (end - begin <= grain) {
    std::sort(begin, end);
    co_return;
  }
  const int first = *begin;
  const int middle = begin[(end - begin) / 2];
  const int last = end[-1];
  const int pivot = std::max(std::min(first, middle), std::min(std::max(first, middle), last));
  const auto smaller = std::partition(begin, end, [=](int each) { return each < pivot; });
  const auto larger = std::partition(smaller, end, [=](int each) { return each == pivot; });
  // Either part may run here or be stolen by an idle worker; after the await, both are done.
  co_await tandem::fork_join(parallel_sort(std::span<int>(begin, smaller)),
                             parallel_sort(std::span<int>(larger, end)));
}

int main() {
  std::mt19937 random(2024);
  std::vector<int> values(2'000'000);
  for (int& value : values) value = static_cast<int>(random() % 1'000'000);
  std::vector<int> expected = values;

  using clock = std::chrono::steady_clock;
  const auto began = clock::now();
  std::sort(expected.begin(), expected.end());
  const auto between = clock::now();
  tandem::run(parallel_sort(values));
  const auto ended = clock::now();

  using milliseconds = std::chrono::duration<double, std::milli>;
  std::cout << "std::sort " << milliseconds(between - began).count() << " ms, parallel_sort "
            << milliseconds(ended - between).count() << " ms\n";
  return values == expected ? 0 : 1;
}
