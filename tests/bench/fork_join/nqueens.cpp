// nqueens.cpp: case nqueens_13: an irregular tree with some work in each node.
// SPDX-License-Identifier: MIT
#include "nqueens_tasks.hpp"

namespace tandem::bench {

namespace {

task<int> awaited(int row, nqueens::board queens) {
  if (row == nqueens::n) co_return 1;
  const nqueens::squares safe = nqueens::safe_squares(row, queens);
  int ways = 0;
  for (std::size_t i = 0; i < safe.count; ++i) {
    nqueens::place(queens, row, safe.columns[i]);
    ways += co_await awaited(row + 1, queens);
  }
  co_return ways;
}

template <class Make>
double sample_tasks(int threads, Make make) {
  workers on(threads);
  return nqueens::sample(
      [&](int row, const nqueens::board& queens) { return on(make(row, queens)); });
}

bench_case row(const char* impl, const char* role, std::vector<int> threads,
               std::function<double(int)> sample) {
  return {.name = nqueens::name,
          .impl = impl,
          .role = role,
          .unit = "ns/node",
          .better = "lower",
          .input = nqueens::input,
          .threads = std::move(threads),
          .sample = std::move(sample)};
}

}  // namespace

void add_nqueens(case_list& cases) {
  using nqueens::board;
  cases.push_back(
      row("serial", "floor", {1}, [](int) { return nqueens::sample(nqueens::serial); }));
  cases.push_back(row("serial_coroutine", "floor", {1}, [](int t) {
    return sample_tasks(t, [](int r, const board& queens) { return awaited(r, queens); });
  }));
  cases.push_back(row("tandem", "self", {}, [](int t) {
    return sample_tasks(t, [](int r, const board& queens) { return nqueens::forked(r, queens); });
  }));
}

}  // namespace tandem::bench
