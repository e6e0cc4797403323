// dump_stress.cpp: dumps as fast as they can beside tasks that wait for everything there is, and are stopped.
// SPDX-License-Identifier: MIT
//
// The laws: every task ends, by its value or by the stop that was asked for; a mutex is never held
// by two, and no item of a channel is lost; every dump is whole.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <tandem/tandem.hpp>
#include <thread>
#include <vector>

#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::stress;
using tandem::test::test_runtime;

/// What the tasks of a round share.
struct world {
  tandem::mutex lock;
  tandem::semaphore permits{3};
  tandem::channel<int> items{2};
  tandem::event never;
  int inside = 0;  // under lock
  std::atomic<long> sent{0};
  std::atomic<long> received{0};
  std::atomic<long> ended{0};
};

task<void> nothing() { co_await tandem::yield(); }

task<void> under_lock(world& in) {
  const tandem::mutex_guard guard = co_await in.lock.scoped_lock();
  EXPECT_EQ(++in.inside, 1);
  (void)co_await tandem::as_result(nothing());  // a stop must not leave it counted
  --in.inside;
}

task<void> with_permits(world& in, std::size_t count) {
  const tandem::semaphore_permit permit = co_await in.permits.scoped(count);
  co_await tandem::yield();
}

task<void> until_limit(world& in) {
  const auto waits = [](world& of) -> task<void> { co_await of.never.wait(); };
  (void)co_await tandem::as_result(tandem::with_timeout(20us, waits(in)));
}

task<void> both_ends(world& in) {
  const auto sends = [](world& of) -> task<void> {
    (void)co_await of.items.send(1);
    of.sent.fetch_add(1);
  };
  const auto receives = [](world& of) -> task<void> {
    (void)co_await of.items.receive();
    of.received.fetch_add(1);
  };
  co_await tandem::shielded(tandem::when_all(sends(in), receives(in)));
}

task<void> step(world& in, std::uint64_t dice) {
  switch (dice % 9) {
    case 0: co_await under_lock(in); break;
    case 1: co_await with_permits(in, 1 + dice / 9 % 3); break;
    case 2: co_await until_limit(in); break;
    case 3: co_await both_ends(in); break;
    case 4: co_await tandem::sleep_for(std::chrono::microseconds(dice / 9 % 50)); break;
    case 5: co_await tandem::spawn(nothing()); break;
    case 6: co_await tandem::fork_join(under_lock(in), until_limit(in), nothing()); break;
    case 7: {
      const auto body = [&in](tandem::task_scope& scope) -> task<void> {
        scope.spawn(nothing());
        scope.spawn(until_limit(in));
        co_return;
      };
      co_await tandem::with_scope(body);
      break;
    }
    default: co_await tandem::blocking([] { std::this_thread::yield(); }); break;
  }
}

task<void> steps(world& in, std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  try {
    for (int i = 0; i < count; ++i) co_await step(in, random());
  } catch (const tandem::operation_cancelled&) {
    in.ended.fetch_add(1);
    throw;
  }
  in.ended.fetch_add(1);
}

TEST(dump_stress, beside_dumps_every_task_ends_and_nothing_is_lost) {
  stress([](std::mt19937_64& random) {
    const auto all = std::make_unique<world>();
    test_runtime rt(2);
    std::vector<tandem::join_handle<>> tasks;
    for (int i = 0; i < 20; ++i) tasks.push_back(rt->spawn(steps(*all, random(), 20)));
    std::atomic<bool> over{false};
    std::thread dumps([&] {
      tandem::dump_options options;
      do {
        options.format = options.format == tandem::dump_format::text ? tandem::dump_format::json
                                                                     : tandem::dump_format::text;
        options.group = options.format == tandem::dump_format::text;
        EXPECT_EQ((*rt).dump(options).back(), '\n');
      } while (!over.load());
    });
    long begun = 20;
    for (tandem::join_handle<>& each : tasks) {
      if (random() % 3 != 0) continue;
      if (each.cancel() == tandem::cancel_result::removed_before_start) --begun;
    }
    EXPECT_TRUE(rt->drain(std::chrono::hours(1)));
    over = true;
    dumps.join();
    for (tandem::join_handle<>& each : tasks) {
      try {
        each.wait();
      } catch (const tandem::operation_cancelled&) {}
    }
    EXPECT_EQ(all->ended.load(), begun);
    EXPECT_EQ(all->sent.load(), all->received.load());
    EXPECT_EQ(all->inside, 0);
  });
}

}  // namespace
