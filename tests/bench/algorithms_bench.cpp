// algorithms_bench.cpp: suite algorithms: parallel loops, sums, scans, sorts; serial ones as floor.
// SPDX-License-Identifier: MIT
//
// TBB's algorithms are the peer, where it is installed. Every case runs once to warm up, then
// `rounds` times; the figure is the mean. Sorts get fresh input each time, which is not counted.
#include <tandem/parallel_for.hpp>
#include <tandem/parallel_reduce.hpp>
#include <tandem/parallel_scan.hpp>
#include <tandem/parallel_sort.hpp>
#include <tandem/sync_wait.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#if TANDEM_BENCH_TBB
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#endif

#include "bench.hpp"

namespace {

using tandem::task;
using tandem::bench::bench_case;
using clock_type = std::chrono::steady_clock;

// The work, the same for all.

std::uint32_t mixed(std::uint32_t x) {
  x ^= x << 13U;
  x ^= x >> 17U;
  x ^= x << 5U;
  return x;
}
/// Some 20 us, but a thousand times that for one item in the middle.
void costly(std::size_t i, std::size_t size, std::vector<std::uint32_t>& out) {
  std::uint32_t x = static_cast<std::uint32_t>(i) + 1;
  const int rounds = i == size / 3 ? 10'000'000 : 10'000;
  for (int k = 0; k < rounds; ++k) x = mixed(x);
  out[i] = x;
}

struct input {
  explicit input(std::size_t size) : words(size), numbers(size), sums(size), ints(size) {
    std::mt19937 random(7);
    for (auto& each : words) each = static_cast<std::uint32_t>(random());
    for (auto& each : numbers) each = static_cast<std::int64_t>(random() % 1000 + 1);
    for (auto& each : ints) each = static_cast<int>(random());
    unsorted = ints;
  }
  std::vector<std::uint32_t> words;
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> sums;
  std::vector<int> ints;
  std::vector<int> unsorted;
};
// Objects, not functions, whose addresses would be called.
constexpr auto product = [](std::int64_t a, std::int64_t b) { return a * b % 1'000'000'007; };
constexpr auto distance_of = [](std::uint32_t x) { return std::sqrt(static_cast<double>(x)); };

/// One case: how it is prepared, and run by each of the three.
struct algorithm {
  const char* name;
  const char* reach;
  std::size_t size;
  int rounds;
  const char* unit;  // of one item, or of one call
  double per_round;
  void (*serial)(input&);
  task<void> (*tandem_way)(input&);
  void (*tbb_way)(input&);
};

volatile double sink;

const algorithm algorithms[] = {
    {"for_cheap", "n=1e6, xorshift", 1'000'000, 20, "ns/item", 1e6,
     [](input& in) {
       for (auto& x : in.words) x = mixed(x);
     },
     [](input& in) -> task<void> {
       co_await tandem::parallel_for(in.words, [](std::uint32_t& x) { x = mixed(x); });
     },
     [](input& in) {
#if TANDEM_BENCH_TBB
       tbb::parallel_for(tbb::blocked_range<std::size_t>(0, in.words.size()),
                         [&](const tbb::blocked_range<std::size_t>& piece) {
                           for (std::size_t i = piece.begin(); i != piece.end(); ++i) {
                             in.words[i] = mixed(in.words[i]);
                           }
                         });
#else
       (void)in;
#endif
     }},
    {"for_small", "a loop over 100 cheap items", 100, 20'000, "ns/loop", 1,
     [](input& in) {
       for (auto& x : in.words) x = mixed(x);
       asm volatile("" ::: "memory");
     },
     [](input& in) -> task<void> {
       co_await tandem::parallel_for(in.words, [](std::uint32_t& x) { x = mixed(x); });
     },
     [](input& in) {
#if TANDEM_BENCH_TBB
       tbb::parallel_for(std::size_t{0}, in.words.size(),
                         [&](std::size_t i) { in.words[i] = mixed(in.words[i]); });
#else
       (void)in;
#endif
     }},
    {"for_costly", "2000 items of 20 us, one of 20 ms", 2000, 3, "ms", 1e6,
     [](input& in) {
       for (std::size_t i = 0; i != in.words.size(); ++i) costly(i, in.words.size(), in.words);
     },
     [](input& in) -> task<void> {
       co_await tandem::parallel_for(std::size_t{0}, in.words.size(),
                                     [&](std::size_t i) { costly(i, in.words.size(), in.words); });
     },
     [](input& in) {
#if TANDEM_BENCH_TBB
       tbb::parallel_for(std::size_t{0}, in.words.size(),
                         [&](std::size_t i) { costly(i, in.words.size(), in.words); });
#else
       (void)in;
#endif
     }},
    {"reduce", "n=1e7, square roots", 10'000'000, 4, "ns/item", 1e7,
     [](input& in) {
       sink =
           std::transform_reduce(in.words.begin(), in.words.end(), 0.0, std::plus<>(), distance_of);
     },
     [](input& in) -> task<void> {
       sink = co_await tandem::parallel_reduce(in.words, 0.0, distance_of, std::plus<>());
     },
     [](input& in) {
#if TANDEM_BENCH_TBB
       sink = tbb::parallel_reduce(
           tbb::blocked_range<std::size_t>(0, in.words.size()), 0.0,
           [&](const tbb::blocked_range<std::size_t>& piece, double sum) {
             for (std::size_t i = piece.begin(); i != piece.end(); ++i) {
               sum += distance_of(in.words[i]);
             }
             return sum;
           },
           std::plus<>());
#else
       (void)in;
#endif
     }},
    {"scan", "n=1e7, sums of int64", 10'000'000, 4, "ns/item", 1e7,
     [](input& in) { std::inclusive_scan(in.numbers.begin(), in.numbers.end(), in.sums.begin()); },
     [](input& in) -> task<void> {
       co_await tandem::parallel_inclusive_scan(in.numbers, in.sums.begin());
     },
     [](input& in) {
#if TANDEM_BENCH_TBB
       tbb::parallel_scan(
           tbb::blocked_range<std::size_t>(0, in.numbers.size()), std::int64_t{0},
           [&](const tbb::blocked_range<std::size_t>& piece, std::int64_t sum, bool is_final) {
             for (std::size_t i = piece.begin(); i != piece.end(); ++i) {
               sum += in.numbers[i];
               if (is_final) in.sums[i] = sum;
             }
             return sum;
           },
           std::plus<>());
#else
       (void)in;
#endif
     }},
    {"scan_costly", "n=1e6, products modulo a prime", 1'000'000, 4, "ns/item", 1e6,
     [](input& in) {
       std::inclusive_scan(in.numbers.begin(), in.numbers.end(), in.sums.begin(), product);
     },
     [](input& in) -> task<void> {
       co_await tandem::parallel_inclusive_scan(in.numbers, in.sums.begin(), product);
     },
     [](input& in) {
#if TANDEM_BENCH_TBB
       tbb::parallel_scan(
           tbb::blocked_range<std::size_t>(0, in.numbers.size()), std::int64_t{1},
           [&](const tbb::blocked_range<std::size_t>& piece, std::int64_t sum, bool is_final) {
             for (std::size_t i = piece.begin(); i != piece.end(); ++i) {
               sum = product(sum, in.numbers[i]);
               if (is_final) in.sums[i] = sum;
             }
             return sum;
           },
           product);
#else
       (void)in;
#endif
     }},
    {"sort", "n=1e7, random ints", 10'000'000, 1, "ns/item", 1e7,
     [](input& in) { std::sort(in.ints.begin(), in.ints.end()); },
     [](input& in) -> task<void> { co_await tandem::parallel_sort(in.ints); },
     [](input& in) {
#if TANDEM_BENCH_TBB
       tbb::parallel_sort(in.ints);
#else
       (void)in;
#endif
     }},
};

/// The mean over all rounds but the first; `run` is called with the input.
template <class Run>
double measured(const algorithm& what, Run run) {
  input in(what.size);
  std::chrono::duration<double, std::nano> taken{0};
  for (int round = 0; round <= what.rounds; ++round) {
    in.ints = in.unsorted;
    const auto began = clock_type::now();
    run(in);
    if (round > 0) taken += clock_type::now() - began;
  }
  return taken.count() / what.rounds / what.per_round;
}

double in_runtime(const algorithm& what, int threads) {
  tandem::runtime_options options;
  options.min_threads = static_cast<unsigned>(threads);
  tandem::runtime rt(options);
  input in(what.size);
  return tandem::sync_wait(rt.workers(), [](const algorithm& each, input& data) -> task<double> {
    std::chrono::duration<double, std::nano> taken{0};
    for (int round = 0; round <= each.rounds; ++round) {
      data.ints = data.unsorted;
      const auto began = clock_type::now();
      co_await each.tandem_way(data);
      if (round > 0) taken += clock_type::now() - began;
    }
    co_return taken.count() / each.rounds / each.per_round;
  }(what, in));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<bench_case> cases;
  for (const algorithm& each : algorithms) {
    cases.push_back({each.name, "std", "floor", each.unit, "lower", each.reach, {1}, [&each](int) {
                       return measured(each, each.serial);
                     }});
    cases.push_back(
        {each.name, "tandem", "self", each.unit, "lower", each.reach, {1, 2}, [&each](int threads) {
           return in_runtime(each, threads);
         }});
#if TANDEM_BENCH_TBB
    cases.push_back(
        {each.name, "tbb", "peer", each.unit, "lower", each.reach, {1, 2}, [&each](int threads) {
           const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                           static_cast<std::size_t>(threads));
           return measured(each, each.tbb_way);
         }});
#endif
  }
  return tandem::bench::run_main(argc, argv, cases);
}
