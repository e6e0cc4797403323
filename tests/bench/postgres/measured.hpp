// measured.hpp: what the programs of suite postgres count, and how they say it.
// SPDX-License-Identifier: MIT
//
// NAME CONNINFO single|pipeline CONNECTIONS SECONDS: each connection runs a prepared statement, one
// after the other, or in batches of a hundred. A warm-up of a third of the time is not counted.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace postgres_bench {

inline const char* const sql = "select $1::int";
inline constexpr int batch = 100;

using clock = std::chrono::steady_clock;

inline std::int64_t cpu_ns() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& of) {
    return of.tv_sec * 1'000'000'000LL + of.tv_usec * 1000LL;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}
inline std::int64_t user_ns() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_utime.tv_sec * 1'000'000'000LL + used.ru_utime.tv_usec * 1000LL;
}

class settings {
 public:
  settings(int argc, char** argv) {
    if (argc != 5) {
      std::fprintf(stderr, "usage: %s CONNINFO single|pipeline CONNECTIONS SECONDS\n", argv[0]);
      std::exit(2);
    }
    conninfo = argv[1];
    is_pipeline = std::string_view(argv[2]) == "pipeline";
    connections = std::atoi(argv[3]);
    seconds = std::strtod(argv[4], nullptr);
  }
  std::string conninfo;
  bool is_pipeline = false;
  int connections = 1;
  double seconds = 1;
};

/// Of one thread. A sample is a statement, or a batch of them.
class counter {
 public:
  explicit counter(const settings& of)
      : per_sample_(of.is_pipeline ? batch : 1),
        counts_from_(clock::now() + span(of.seconds / 3)),
        ends_(counts_from_ + span(of.seconds)) {
    samples_.reserve(1 << 20);
  }

  bool is_over() const { return clock::now() >= ends_; }
  /// One sample has ended, that began then.
  void add(clock::time_point began) {
    const auto now = clock::now();
    if (now < counts_from_) return;
    if (samples_.empty()) {
      first_ = now;
      cpu_ = cpu_ns();
      user_ = user_ns();
    }
    last_ = now;
    samples_.push_back(static_cast<std::uint32_t>((now - began) / std::chrono::nanoseconds(1)));
  }

  void print() {
    const double count = static_cast<double>(samples_.size() - 1) * per_sample_;
    const double seconds = std::chrono::duration<double>(last_ - first_).count();
    const double cpu = static_cast<double>(cpu_ns() - cpu_),
                 user = static_cast<double>(user_ns() - user_);
    std::sort(samples_.begin(), samples_.end());
    const auto quantile = [&](double q) {
      return samples_[static_cast<std::size_t>(q * static_cast<double>(samples_.size() - 1))] / 1e3;
    };
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    std::printf(
        "{\"rate\": %.1f, \"p50\": %.2f, \"p99\": %.2f, \"cpu\": %.0f, \"user\": %.0f, \"rss\": "
        "%ld}\n",
        count / seconds, quantile(0.5), quantile(0.99), cpu / count, user / count, used.ru_maxrss);
  }

 private:
  static clock::duration span(double seconds) {
    return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  }

  double per_sample_;
  clock::time_point counts_from_, ends_, first_, last_;
  std::int64_t cpu_ = 0, user_ = 0;
  std::vector<std::uint32_t> samples_;
};

}  // namespace postgres_bench
