// problems.hpp: what suite sync measures, whoever does it: names, units, sizes and how a loop is measured.
// SPDX-License-Identifier: MIT
//
// A loop does its operation n times, inside the implementation that is measured. It is warmed up by
// a tenth of n, and then timed, or its allocations are counted.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../bench.hpp"

namespace tandem::bench {

using case_list = std::vector<bench_case>;

using loop = std::function<void(long n)>;
double nanoseconds(long n, const loop& work);
double allocations(long n, const loop& work);

/// User and system time of the process.
double cpu_nanoseconds();

/// Makes every loop, and every number of tasks, so many times smaller: for the test that all cases
/// run.
void set_share(long share);
long scaled(long n);

/// A case, whoever implements it.
struct problem {
  const char* name;
  const char* unit;
  const char* input;
  long n;
  int threads = 0;  // 0: each number that is asked for
};

namespace problems {

constexpr long tasks = 8;  // that contend for a lock
constexpr long permits = 2;
constexpr long bound = 128;           // of a channel
constexpr long listeners = 64;        // to a broadcast
constexpr long broadcast_batch = 16;  // values, which it holds
constexpr long followers = 10'000;    // of a watch
constexpr long scope_size = 1000;     // children
constexpr long cancel_size = 1000;    // tasks of a group

constexpr problem lock_unlock{"lock_unlock", "ns/op", "one task, 10,000,000 times", 10'000'000, 1};
constexpr problem lock_contended{"lock_contended", "ns/op",
                                 "8 tasks, 200,000 times each, an increment inside", 1'600'000, 2};
constexpr problem lock_handover{"lock_handover", "ns/op",
                                "8 tasks, 50,000 times each, a yield inside", 400'000};
constexpr problem read_unlock{"read_unlock", "ns/op", "one task, 10,000,000 times", 10'000'000, 1};
constexpr problem read_contended{"read_contended", "ns/op",
                                 "8 tasks, 200,000 times each, a sum inside", 1'600'000, 2};
constexpr problem read_mostly{"read_mostly", "ns/op",
                              "8 tasks, 50,000 times each, a yield inside, every hundredth writes",
                              400'000};
constexpr problem semaphore{"semaphore", "ns/op",
                            "one task acquires and releases, 10,000,000 times", 10'000'000, 1};
constexpr problem semaphore_contended{"semaphore_contended", "ns/op",
                                      "2 permits, 8 tasks, 50,000 times each, a yield inside",
                                      400'000};
constexpr problem ping_pong{"ping_pong", "ns/round trip", "two tasks wake each other 500,000 times",
                            500'000};
constexpr problem channel_1_1{"channel_1_1", "ns/item",
                              "bounded 128, 1 sender, 1 receiver, 2,000,000 items", 2'000'000};
constexpr problem channel_4_4{"channel_4_4", "ns/item",
                              "bounded 128, 4 senders, 4 receivers, 2,000,000 items", 2'000'000};
constexpr problem channel_16_16{"channel_16_16", "ns/item",
                                "bounded 128, 16 senders, 16 receivers, 2,000,000 items",
                                2'000'000};
constexpr problem oneshot{"oneshot", "ns/op",
                          "one task makes one, sends and receives, 5,000,000 times", 5'000'000, 1};
constexpr problem unbounded_1_1{
    "unbounded_1_1", "ns/item",
    "unbounded, 1 sender that yields every 128, 1 receiver, 2,000,000 items", 2'000'000};
constexpr problem broadcast_64{"broadcast_64", "ns/delivery",
                               "64 receivers, 100,000 values, 16 at once, until all have them",
                               6'400'000};
constexpr problem watch_10k{"watch_10k", "ns/wake",
                            "10,000 readers, 200 versions, each until all have seen it", 2'000'000};
constexpr problem select_ready{"select_ready", "ns/turn",
                               "a send to one of 4 channels, a select of the 4, 5,000,000 times",
                               5'000'000, 1};
// Two tasks that wait for each other's values: a turn is a send and a wait.
constexpr problem receive_wait{"receive_wait", "ns/turn",
                               "two tasks answer each other, each by a channel, 2,000,000 turns",
                               2'000'000, 1};
constexpr problem select_wait{"select_wait", "ns/turn",
                              "as receive_wait, each by a select of 4 channels, 2,000,000 turns",
                              2'000'000, 1};
constexpr problem selector_wait{"selector_wait", "ns/turn",
                                "as select_wait, each by one selector, 2,000,000 turns", 2'000'000,
                                1};
constexpr problem generator_item{"generator_item", "ns/item", "a sum of 100,000,000 items",
                                 100'000'000, 1};
constexpr problem stream_item{"stream_item", "ns/item",
                              "a sum of 20,000,000 items that are there at once", 20'000'000, 1};
constexpr problem stream_3{"stream_3", "ns/item",
                           "the same through map, filter and map, 20,000,000 items", 20'000'000, 1};
// The same children, forked: what a group may cost is measured by them.
constexpr problem fork_join_8_ready{"fork_join_8_ready", "ns/group",
                                    "8 children that do not wait, 100,000 forks", 100'000};
constexpr problem fork_join_8_yield{"fork_join_8_yield", "ns/group",
                                    "8 children that yield once, 100,000 forks", 100'000};
constexpr problem when_all_8_ready{"when_all_8_ready", "ns/group",
                                   "8 children that do not wait, 100,000 groups", 100'000};
constexpr problem when_all_8_yield{"when_all_8_yield", "ns/group",
                                   "8 children that yield once, 100,000 groups", 100'000};
constexpr problem scope_1000{"scope_1000", "ns/child",
                             "1,000 children spawned and joined, 500 times", 500'000};
constexpr problem sleep_1m{"sleep_1m", "CPU ns/task",
                           "1,000,000 tasks, each sleeps a random time of up to 1 s", 1'000'000};
constexpr problem sleep_1m_memory{"sleep_1m_memory", "MB", "resident while 1,000,000 tasks sleep",
                                  1'000'000, 1};
constexpr problem timeout_ready{"timeout_ready", "ns/op",
                                "a limit of 1 h around a task that does not wait, 1,000,000 times",
                                1'000'000, 1};
constexpr problem timeout_yield{"timeout_yield", "ns/op",
                                "a limit of 1 h around a task that yields once, 500,000 times",
                                500'000, 1};
constexpr const char* cancelled =
    "groups of 1,000 tasks that sleep; from the request until all have ended";
constexpr problem cancel_10k{"cancel_10k", "ns/task", cancelled, 10'000};
constexpr problem cancel_100k{"cancel_100k", "ns/task", cancelled, 100'000};

/// The allocations of another loop, on one thread: `name` and `input` say of which.
constexpr problem allocations_of(const char* name, const char* input, const problem& other) {
  return {name, "allocations/op", input, other.n, 1};
}
constexpr problem allocs_lock = allocations_of("allocs_lock", "as lock_handover", lock_handover);
constexpr problem allocs_semaphore =
    allocations_of("allocs_semaphore", "as semaphore_contended", semaphore_contended);
constexpr problem allocs_ping_pong = allocations_of("allocs_ping_pong", "as ping_pong", ping_pong);
constexpr problem allocs_channel = allocations_of("allocs_channel", "as channel_1_1", channel_1_1);
constexpr problem allocs_when_all =
    allocations_of("allocs_when_all", "as when_all_8_yield", when_all_8_yield);
constexpr problem allocs_scope =
    allocations_of("allocs_scope", "as scope_1000, a child", scope_1000);
constexpr problem allocs_select = allocations_of("allocs_select", "as select_wait", select_wait);
constexpr problem allocs_stream = allocations_of("allocs_stream", "as stream_3", stream_3);
constexpr problem allocs_timeout =
    allocations_of("allocs_timeout", "as timeout_yield", timeout_yield);

}  // namespace problems

/// Durations of up to a second, the same ones in each sample.
class random_durations {
 public:
  long next_nanoseconds() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<long>(state_ % 1'000'000'000);
  }

 private:
  unsigned long state_ = 88'172'645'463'325'252;
};

inline bench_case row(const problem& of, const char* impl, const char* role,
                      std::function<double(int)> sample) {
  return {.name = of.name,
          .impl = impl,
          .role = role,
          .unit = of.unit,
          .better = "lower",
          .input = of.input,
          .threads = of.threads == 0 ? std::vector<int>{} : std::vector<int>{of.threads},
          .sample = std::move(sample)};
}

/// A case that is a loop: `body(n)` is a task, or what `On`, a set of threads, takes instead.
template <class On, class Body>
bench_case looped(const problem& of, const char* impl, const char* role, Body body) {
  const bool counts = std::string(of.unit) == "allocations/op";
  return row(of, impl, role, [of, counts, body](int threads) {
    On on(threads);
    const loop work = [&](long n) { on(body(n)); };
    return counts ? allocations(scaled(of.n), work) : nanoseconds(scaled(of.n), work);
  });
}

}  // namespace tandem::bench
