// redis_load.hpp: what the clients of suite redis measure and print, the same in all of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace redis_load {

using steady = std::chrono::steady_clock;

inline constexpr int tasks = 64;      // of case shared
inline constexpr int commands = 100;  // of case pipeline
inline constexpr const char* key = "key:000000000042";
inline const std::string value(64, 'v');

/// At most, of this program: what getrusage() says has that of whoever started it.
inline long memory_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atol(line.c_str() + 6);
  }
  return 0;
}

inline double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

/// Times of requests (a pipeline is one), and how long all took.
class figures {
 public:
  explicit figures(std::size_t most) { times_.reserve(most); }
  void begin() {
    cpu_ = cpu_seconds();
    began_ = steady::now();
  }
  void add(steady::duration took) {
    times_.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(took.count(), UINT32_MAX)));
  }
  /// @param per_time  commands in each of what was timed
  void print(int per_time) {
    const double seconds = std::chrono::duration<double>(steady::now() - began_).count();
    const double cpu = cpu_seconds() - cpu_;
    const auto count = static_cast<double>(times_.size()) * per_time;
    std::sort(times_.begin(), times_.end());
    const auto at = [&](double part) {
      return static_cast<double>(
                 times_[static_cast<std::size_t>(part * static_cast<double>(times_.size() - 1))]) /
             1000;
    };
    std::printf("requests_s=%.0f p50_us=%.2f p99_us=%.2f cpu_us=%.3f count=%.0f rss_kb=%ld\n",
                count / seconds, at(0.5), at(0.99), cpu / count * 1e6, count, memory_kb());
  }

 private:
  std::vector<std::uint32_t> times_;
  steady::time_point began_;
  double cpu_ = 0;
};

[[noreturn]] inline void fail(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::exit(1);
}

}  // namespace redis_load
