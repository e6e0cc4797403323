// skynet.cpp: case skynet_1m: wide forks of tiny tasks.
// SPDX-License-Identifier: MIT
#include "skynet_tasks.hpp"

namespace tandem::bench {

namespace {

task<long> awaited(long first, long count) {
  if (count == 1) co_return first;
  const long part = count / skynet::fan_out;
  long sum = 0;
  for (long i = 0; i < skynet::fan_out; ++i) sum += co_await awaited(first + i * part, part);
  co_return sum;
}

template <class Make>
double sample_tasks(int threads, Make make) {
  workers on(threads);
  return skynet::sample([&](long first, long count) { return on(make(first, count)); });
}

bench_case row(const char* impl, const char* role, std::vector<int> threads,
               std::function<double(int)> sample) {
  return {.name = skynet::name,
          .impl = impl,
          .role = role,
          .unit = "ns/task",
          .better = "lower",
          .input = skynet::input,
          .threads = std::move(threads),
          .sample = std::move(sample)};
}

}  // namespace

void add_skynet(case_list& cases) {
  cases.push_back(row("serial", "floor", {1}, [](int) { return skynet::sample(skynet::serial); }));
  cases.push_back(row("serial_coroutine", "floor", {1}, [](int t) {
    return sample_tasks(t, [](long first, long count) { return awaited(first, count); });
  }));
  cases.push_back(row("tandem", "self", {}, [](int t) {
    return sample_tasks(t, [](long first, long count) { return skynet::forked(first, count); });
  }));
}

}  // namespace tandem::bench
