// loads.cpp: pool_loads LOAD POOL SECONDS: one load on one pool, by the real clock; prints a JSON object.
// SPDX-License-Identifier: MIT
//
// POOL is "adaptive" (two threads and more) or the number of threads of a fixed one. What the
// figures are to be says ../loads.py, which runs all of them, each in a process of its own.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <semaphore>
#include <string>

#include "../bench.hpp"
#include "load_parts.hpp"

namespace {

using namespace tandem;
using namespace tandem::bench;
using namespace tandem::bench::loads;

constexpr auto keep_alive = std::chrono::seconds(3);
constexpr int outstanding = 256;
constexpr int burst_items = 10'000;
constexpr int nest_depth = 8;

/// What is printed.
class report {
 public:
  void add(const char* name, double value) {
    text_ += std::string(text_.empty() ? "" : ",") + "\"" + name + "\":" + number(value);
  }
  void print() const { std::printf("{%s}\n", text_.c_str()); }

 private:
  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
  }
  std::string text_;
};

runtime_options options_of(const char* pool) {
  runtime_options options;
  options.min_threads = 2;
  options.max_threads = 512;
  options.keep_alive = keep_alive;
  options.starvation_threshold = std::chrono::seconds(0);  // what is slow here is meant to be
  if (std::strcmp(pool, "adaptive") != 0) {
    options.min_threads = static_cast<unsigned>(std::max(1, std::atoi(pool)));
    options.max_threads = options.min_threads;
  }
  return options;
}

void io_item(long) {
  compute(milliseconds(10));
  block(milliseconds(100));
}
void cpu_item(long) { compute(milliseconds(10)); }
void mixed_item(long number) {
  if (number % 10 == 0) {
    block(milliseconds(20));
  } else {
    compute(milliseconds(0.2));
  }
}

double rate(long items, clock::time_point since) {
  return static_cast<double>(items) / seconds(clock::now() - since).count();
}

/// Two thirds of the time to settle, a third to look.
void observe_saturated(runtime& owner, feeder& feed, seconds span, report& out) {
  const observation settling = observation::of(owner, span * 2 / 3);
  const clock::time_point start = clock::now();
  const long before = feed.ran();
  const observation settled = observation::of(owner, span / 3);
  out.add("items_per_s", rate(feed.ran() - before, start));
  out.add("goal_mean", settled.goal_mean);
  out.add("goal_most", std::max(settling.goal_most, settled.goal_most));
}

/// How long it takes until no more threads than `min_threads` are left; -1: longer than the limit.
double until_retired(runtime& owner, seconds limit) {
  const clock::time_point start = clock::now();
  const auto gone = [&] {
    const worker_pool_stats now = owner.workers().stats();
    return now.threads <= now.min_threads;
  };
  (void)observation::of(owner, limit, gone);
  return gone() ? seconds(clock::now() - start).count() : -1;
}

void saturated(runtime& owner, void (*body)(long), seconds span, report& out) {
  feeder feed(owner, body, outstanding);
  feed.start();
  observe_saturated(owner, feed, span, out);
  feed.stop();
  if (owner.options().max_threads == owner.options().min_threads) return;
  out.add("retired_s", until_retired(owner, seconds(keep_alive) * 5));
}

/// All at once; each blocks for 10 ms.
void burst(runtime& owner, seconds, report& out) {
  std::atomic<int> left{burst_items};
  std::vector<item> items(burst_items);
  const clock::time_point start = clock::now();
  for (item& each : items) {
    each.body = [&left] {
      block(milliseconds(10));
      left.fetch_sub(1);
    };
    owner.workers().post(&each, post_kind::spawn);
  }
  const observation seen = observation::of(owner, seconds(600), [&] { return left.load() == 0; });
  out.add("seconds", seconds(clock::now() - start).count());
  out.add("goal_mean", seen.goal_mean);
  out.add("goal_most", seen.goal_most);
  out.add("threads_most", seen.threads_most);
}

/// Load, nothing for three times keep_alive, and the load again.
void returning(runtime& owner, seconds span, report& out) {
  feeder feed(owner, io_item, outstanding);
  feed.start();
  observe_saturated(owner, feed, span / 2, out);
  feed.stop();
  std::this_thread::sleep_for(keep_alive * 3);
  out.add("threads_between", owner.workers().stats().threads);
  const clock::time_point start = clock::now();
  const long before = feed.ran();
  feed.start();
  (void)observation::of(owner, span / 2);
  out.add("again_items_per_s", rate(feed.ran() - before, start));
  feed.stop();
}

/// Two items block until one that they have posted has run, which does the same: every worker waits
/// for a queued item.
class nest {
 public:
  explicit nest(runtime& owner) : owner_(owner) {
    for (int i = 0; i < 2 * nest_depth; ++i) {
      levels_.push_back(std::make_unique<level>());
      levels_.back()->of.body = [this, i] { run(i); };
    }
  }
  void start() {
    post(0);
    post(1);
    levels_[0]->done.acquire();
    levels_[1]->done.acquire();
  }

 private:
  struct level {
    item of;
    std::binary_semaphore done{0};
  };
  void post(int number) {
    owner_.workers().post(&levels_[static_cast<std::size_t>(number)]->of, post_kind::spawn);
  }
  void run(int number) {
    if (number + 2 < 2 * nest_depth) {
      post(number + 2);
      levels_[static_cast<std::size_t>(number) + 2]->done.acquire();
    }
    levels_[static_cast<std::size_t>(number)]->done.release();
  }

  runtime& owner_;
  std::vector<std::unique_ptr<level>> levels_;
};

void nested(runtime& owner, seconds, report& out) {
  nest all(owner);
  const clock::time_point start = clock::now();
  all.start();
  out.add("seconds", seconds(clock::now() - start).count());
  out.add("threads_most", owner.workers().stats().threads);
}

int run(const std::string& load, const char* pool, double span) {
  runtime owner(options_of(pool));
  report out;
  if (load == "io") {
    saturated(owner, io_item, seconds(span), out);
  } else if (load == "cpu") {
    saturated(owner, cpu_item, seconds(span), out);
  } else if (load == "mixed") {
    saturated(owner, mixed_item, seconds(span), out);
  } else if (load == "burst") {
    burst(owner, seconds(span), out);
  } else if (load == "returning") {
    returning(owner, seconds(span), out);
  } else if (load == "nested") {
    nested(owner, seconds(span), out);
  } else {
    return 2;
  }
  out.print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int status = argc == 4 ? run(argv[1], argv[2], std::atof(argv[3])) : 2;
  if (status == 2) {
    std::fprintf(stderr, "usage: %s io|cpu|mixed|burst|returning|nested adaptive|THREADS SECONDS\n",
                 argv[0]);
  }
  return status;
}
