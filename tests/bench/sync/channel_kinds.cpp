// channel_kinds.cpp: cases oneshot, unbounded_1_1, broadcast_64 and watch_10k: channels of other kinds.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <tandem/broadcast.hpp>
#include <tandem/event.hpp>
#include <tandem/oneshot.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/unbounded_channel.hpp>
#include <tandem/watch.hpp>
#include <tandem/yield.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

task<void> make_send_receive(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    oneshot<long> answer;
    answer.sender.send(i);
    sum += co_await answer.receiver.receive();
  }
  expect_equal(sum, n * (n - 1) / 2, "the sum");
}

task<void> send_all(unbounded_channel<long>& to, long n) {
  for (long item = 0; item < n; ++item) {
    to.send(item);
    if (item % problems::bound == problems::bound - 1) co_await yield();
  }
  to.close();
}

task<void> through_unbounded(long n) {
  unbounded_channel<long> items;
  long sum = 0;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(send_all(items, n));
    while (const auto item = co_await items.receive()) sum += *item;
  });
  expect_equal(sum, n * (n - 1) / 2, "the sum");
}

/// Tells one task that all others have come.
class meeting {
 public:
  explicit meeting(long others) : others_(others) {}
  void begin() {
    all_here_.reset();
    missing_.store(others_);
  }
  void arrive() {
    if (missing_.fetch_sub(1) == 1) all_here_.set();
  }
  event_awaiter wait() { return all_here_.wait(); }

 private:
  const long others_;
  std::atomic<long> missing_{0};
  event all_here_;
};

task<void> listen(broadcast_receiver<long> from, meeting& round, std::atomic<long>& total) {
  long sum = 0;
  while (const auto item = co_await from.receive()) {
    sum += *item;
    if (*item % problems::broadcast_batch == problems::broadcast_batch - 1) round.arrive();
  }
  total.fetch_add(sum);
}

/// n deliveries.
task<void> broadcast_to_all(long n) {
  const long values =
      n / (problems::listeners * problems::broadcast_batch) * problems::broadcast_batch;
  broadcast<long> feed(problems::broadcast_batch);
  meeting round(problems::listeners);
  std::atomic<long> total{0};
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (long i = 0; i < problems::listeners; ++i) {
      scope.spawn(listen(feed.subscribe(), round, total));
    }
    for (long value = 0; value < values; value += problems::broadcast_batch) {
      round.begin();
      for (long i = 0; i < problems::broadcast_batch; ++i) feed.send(value + i);
      co_await round.wait();
    }
    feed.close();
  });
  expect_equal(total.load(), problems::listeners * (values * (values - 1) / 2), "the sum");
}

task<void> follow(watch_reader<long> reader, meeting& round, std::atomic<long>& total) {
  long sum = 0;
  while (co_await reader.changed()) {
    sum += reader.get();
    round.arrive();
  }
  total.fetch_add(sum);
}

/// n wakes.
task<void> set_for_all(long n) {
  const long readers = std::min(n, problems::followers);
  const long versions = n / readers;
  watch<long> latest(0L);
  meeting round(readers);
  std::atomic<long> total{0};
  co_await with_scope([&](task_scope& scope) -> task<void> {
    round.begin();
    for (long i = 0; i < readers; ++i) scope.spawn(follow(latest.subscribe(), round, total));
    co_await round.wait();
    for (long version = 1; version <= versions; ++version) {
      round.begin();
      latest.set(version);
      co_await round.wait();
    }
    latest.close();
  });
  expect_equal(total.load(), readers * (versions * (versions + 1) / 2), "the sum");
}

}  // namespace

void add_channel_kinds(case_list& cases) {
  cases.push_back(looped(problems::oneshot, make_send_receive));
  cases.push_back(looped(problems::unbounded_1_1, through_unbounded));
  cases.push_back(looped(problems::broadcast_64, broadcast_to_all));
  cases.push_back(looped(problems::watch_10k, set_for_all));
}

}  // namespace tandem::bench
