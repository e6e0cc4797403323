// matmul.cpp: case matmul_1024: coarse tasks whose order decides what is in the cache.
// SPDX-License-Identifier: MIT
#include "matmul_tasks.hpp"

namespace tandem::bench {

namespace {

bench_case row(const char* impl, const char* role, std::vector<int> threads,
               std::function<double(int)> sample) {
  return {.name = matmul::name,
          .impl = impl,
          .role = role,
          .unit = "GFLOP/s",
          .better = "higher",
          .input = matmul::input,
          .threads = std::move(threads),
          .sample = std::move(sample)};
}

}  // namespace

void add_matmul(case_list& cases) {
  cases.push_back(row("serial", "floor", {1}, [](int) { return matmul::sample(matmul::serial); }));
  cases.push_back(row("tandem", "self", {}, [](int t) {
    workers on(t);
    return matmul::sample([&](matmul::product all) { on(matmul::forked(all)); });
  }));
}

}  // namespace tandem::bench
