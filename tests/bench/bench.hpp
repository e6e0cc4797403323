// bench.hpp: the main function of a benchmark executable, and what it tells the harness.
// SPDX-License-Identifier: MIT
//
// bench_SUITE --list prints one JSON object for each case; bench_SUITE CASE IMPL THREADS runs one sample of
// it and prints {"value":...,"rss_kb":...}. Each sample is its own process, started by tests/bench/harness.py, which
// shuffles the order, repeats and sums up. A case measures itself: it returns the figure in its unit.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace tandem::bench {

/// One thing that is measured. `reach` says how far the input went (such as "n=32"), for the reader.
struct bench_case {
  std::string name;                   // "fib_32"
  std::string impl;                   // "tandem", "plain_call", ...
  std::string role;                   // self, peer or floor
  std::string unit;                   // "ns/task", "req/s", ...
  std::string better;                 // higher or lower
  std::string reach;                  // free text
  std::vector<int> threads;           // one row for each
  std::function<double(int)> sample;  // threads -> figure
};

/// The time that `work` takes, divided by `count`, in nanoseconds.
template <class Work>
double nanoseconds_per(double count, Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return taken.count() / count;
}

/// The most memory that this process has held. (getrusage would tell that of the shell before exec as well.)
inline long peak_memory_kb() {
  long kilobytes = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) kilobytes = std::atol(line.c_str() + 6);
  }
  return kilobytes;
}

inline int run_main(int argc, char** argv, const std::vector<bench_case>& cases) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const bench_case& c : cases) {
      for (const int threads : c.threads) {
        std::printf(
            R"({"case":"%s","impl":"%s","role":"%s","unit":"%s","better":"%s","reach":"%s","threads":%d})"
            "\n",
            c.name.c_str(), c.impl.c_str(), c.role.c_str(), c.unit.c_str(), c.better.c_str(),
            c.reach.c_str(), threads);
      }
    }
    return 0;
  }
  if (argc == 4) {
    for (const bench_case& c : cases) {
      if (c.name == argv[1] && c.impl == argv[2]) {
        const double value = c.sample(std::atoi(argv[3]));
        std::printf("{\"value\":%.9g,\"rss_kb\":%ld}\n", value, peak_memory_kb());
        return 0;
      }
    }
  }
  std::fprintf(stderr, "usage: %s --list | CASE IMPL THREADS\n", argv[0]);
  return 2;
}

}  // namespace tandem::bench
