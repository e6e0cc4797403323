// problems.hpp: what suite pool measures, whoever does it: names, sizes, and how a round of posts is timed.
// SPDX-License-Identifier: MIT
//
// A round: each of the producers, threads of their own, posts its share of the items one by one (or
// in lots); each item does no more than count itself. The round is over when all have run. Items
// count in a slot of the thread that runs them, since a counter that all share would be what is
// measured; so whoever waits looks every 20 us.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../bench.hpp"

namespace tandem::bench::pool {

using case_list = std::vector<bench_case>;

/// What the items have counted, by all threads.
class tally {
 public:
  static void count() noexcept {
    std::atomic<long>* const mine = mine_ != nullptr ? mine_ : take_slot();
    // Relaxed: one writer; what it counts is all that is read.
    mine->store(mine->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  static long sum() noexcept;
  /// Blocks until the sum is `expected`. @throws std::runtime_error if there are more
  static void wait_for(long expected);

 private:
  struct alignas(128) slot {
    std::atomic<long> counted;
  };
  static constexpr unsigned most_threads = 64;

  static std::atomic<long>* take_slot() noexcept;

  static inline std::array<slot, most_threads> slots_;
  static inline std::atomic<unsigned> taken_{0};
  static inline thread_local constinit std::atomic<long>* mine_ = nullptr;
};

/// What a round took, for each item.
struct round_figures {
  double post_cpu_ns = 0;  // of the producers, user and system
  double wall_ns = 0;      // from the start until the last item has run
};

/// Posts the items from `first` on, so many, from the calling thread.
using post_share = std::function<void(long first, long count)>;
/// `items` is a multiple of `producers`.
round_figures measure_round(int producers, long items, const post_share& post);

/// Makes every round so many times smaller: for the test that all cases run.
void set_share(long share);
long scaled(long items);

constexpr long round_items = 200'000;
constexpr int rounds = 5;
constexpr long lot = 1'000;            // items of a bulk post
constexpr long queue_capacity = 1024;  // of a bounded queue
constexpr int chains = 64;             // of items that post the next one each

enum class figure { post_cpu, wall };

/// A case, whoever implements it.
struct problem {
  const char* name;
  const char* unit;
  const char* input;
  int producers;
  figure takes;
};

constexpr const char* cpu_unit = "CPU ns/post";
constexpr const char* wall_unit = "ns/item";
constexpr problem post_1{"post_1", cpu_unit, "1 producer outside the pool: what a post costs it", 1,
                         figure::post_cpu};
constexpr problem post_4{"post_4", cpu_unit, "4 producers outside: what a post costs them", 4,
                         figure::post_cpu};
constexpr problem post_bulk{"post_bulk", cpu_unit, "lots of 1,000 items; for each item", 1,
                            figure::post_cpu};
constexpr problem outside_1{"outside_1", wall_unit, "1 producer outside, until all items have run",
                            1, figure::wall};
constexpr problem outside_4{"outside_4", wall_unit, "4 producers outside, until all items have run",
                            4, figure::wall};
constexpr problem outside_bulk{"outside_bulk", wall_unit, "lots of 1,000, until all items have run",
                               1, figure::wall};
constexpr problem inside{"inside", wall_unit,
                         "64 items that post one more each, and so on: 200,000", 1, figure::wall};
constexpr problem submit_bounded{
    "submit_bounded", wall_unit,
    "a queue of 1,024; when it is full the producer runs the item or waits", 1, figure::wall};
constexpr problem submit_bounded_4{"submit_bounded_4", wall_unit, "the same by 4 producers", 4,
                                   figure::wall};

/// A row: `make(threads)` gives a set of threads with members post(first, count), which posts as in
/// measure_round.
template <class Pool>
bench_case posted(const problem& of, const char* impl, const char* role) {
  bench_case row{.name = of.name,
                 .impl = impl,
                 .role = role,
                 .unit = of.unit,
                 .better = "lower",
                 .input = of.input,
                 .threads = {},
                 .sample = {}};
  row.sample = [of](int threads) {
    Pool pool(threads, scaled(round_items));
    const post_share post = [&pool](long first, long count) { pool.post(first, count); };
    double sum = 0;
    for (int i = 0; i <= rounds; ++i) {
      const round_figures one = measure_round(of.producers, scaled(round_items), post);
      if (i > 0) sum += of.takes == figure::wall ? one.wall_ns : one.post_cpu_ns;  // 0: warm-up
    }
    return sum / rounds;
  };
  return row;
}

/// The row of case `inside`: Pool::start(n) posts the first item of a chain of n.
template <class Pool>
bench_case chained(const char* impl, const char* role) {
  bench_case row{.name = inside.name,
                 .impl = impl,
                 .role = role,
                 .unit = inside.unit,
                 .better = "lower",
                 .input = inside.input,
                 .threads = {},
                 .sample = {}};
  row.sample = [](int threads) {
    Pool pool(threads, chains);
    const long length = scaled(round_items) / chains;
    const post_share post = [&pool, length](long, long) {
      for (int i = 0; i < chains; ++i) pool.start(length);
    };
    double sum = 0;
    for (int i = 0; i <= rounds; ++i) {
      const double one = measure_round(1, chains * length, post).wall_ns;
      if (i > 0) sum += one;
    }
    return sum / rounds;
  };
  return row;
}

}  // namespace tandem::bench::pool
