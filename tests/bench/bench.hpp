// bench.hpp: the main function of a benchmark executable, and what it tells the harness.
// SPDX-License-Identifier: MIT
//
// bench_SUITE --list [1,2,4] prints one JSON object for each case and thread count; bench_SUITE
// CASE IMPL THREADS runs one sample of it and prints {"value":...,"rss_kb":...}. Each sample is its
// own process, started by harness.py, which pins it, shuffles the order, repeats and sums up. A
// case measures itself and returns the figure in its unit; it throws if the work gave a wrong
// result.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tandem::bench {

/// One thing that is measured.
struct bench_case {
  std::string name;          // "fib_36"
  std::string impl;          // "tandem", "serial", "tbb", ...
  std::string role;          // self, peer or floor
  std::string unit;          // "ns/task", "req/s", ...
  std::string better;        // higher or lower
  std::string input;         // what is computed, for the reader
  std::vector<int> threads;  // one row for each; none: one for each count that is asked for
  std::function<double(int)> sample;  // threads -> figure
  bool extra = false;                 // measured only when all cases are asked for
};

/// The time that `work` takes, divided by `count`, in nanoseconds.
template <class Work>
double nanoseconds_per(double count, Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return taken.count() / count;
}

/// Ends the sample without a figure unless the work gave what it has to.
template <class T>
void expect_equal(const T& got, const T& expected, const char* what) {
  if (got == expected) return;
  std::ostringstream text;
  text << what << " is " << got << " instead of " << expected;
  throw std::runtime_error(text.str());
}

/// What /proc/self/status says of this process's memory: "VmRSS:" now, "VmHWM:" at most.
inline long memory_kb(const std::string& field) {
  long kilobytes = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) kilobytes = std::atol(line.c_str() + field.size());
  }
  return kilobytes;
}

/// The most memory that this process has held. (getrusage would tell that of the shell before exec
/// as well.)
inline double resident_megabytes() { return static_cast<double>(memory_kb("VmRSS:")) * 1024 / 1e6; }
inline long peak_memory_kb() { return memory_kb("VmHWM:"); }

/// "1,2,4" as numbers.
inline std::vector<int> thread_counts(const char* text) {
  std::vector<int> counts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) counts.push_back(std::atoi(part.c_str()));
  return counts;
}

inline void print_case(const bench_case& c, const std::vector<int>& asked_for,
                       const std::string& version) {
  for (const int threads : c.threads.empty() ? asked_for : c.threads) {
    std::printf(R"({"case":"%s","impl":"%s","role":"%s","unit":"%s","better":"%s","input":"%s",)"
                R"("version":"%s","extra":%s,"threads":%d})"
                "\n",
                c.name.c_str(), c.impl.c_str(), c.role.c_str(), c.unit.c_str(), c.better.c_str(),
                c.input.c_str(), version.c_str(), c.extra ? "true" : "false", threads);
  }
}

/// @param version  of the library that is measured, if it is not tandem
inline int run_main(int argc, char** argv, const std::vector<bench_case>& cases,
                    const std::string& version = "") {
  if ((argc == 2 || argc == 3) && std::strcmp(argv[1], "--list") == 0) {
    for (const bench_case& c : cases) {
      print_case(c, thread_counts(argc == 3 ? argv[2] : "1,2"), version);
    }
    return 0;
  }
  if (argc == 4) {
    for (const bench_case& c : cases) {
      if (c.name != argv[1] || c.impl != argv[2]) continue;
      try {
        const double value = c.sample(std::atoi(argv[3]));
        std::printf("{\"value\":%.9g,\"rss_kb\":%ld}\n", value, peak_memory_kb());
        return 0;
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s %s: %s\n", argv[1], argv[2], failure.what());
        return 1;
      }
    }
  }
  std::fprintf(stderr, "usage: %s --list [THREADS,...] | CASE IMPL THREADS\n", argv[0]);
  return 2;
}

}  // namespace tandem::bench
