// virtual_time_stress.cpp: random programs under a virtual clock: a seed repeats its whole log of events.
// SPDX-License-Identifier: MIT
//
// A program is a tree of tasks that yield, sleep, lock, pass values on, spawn, fork, fail, run out
// of time and are stopped. Its shape follows from its number, its schedule from the seed of the
// clock. The laws: the same program under the same seed gives the same log, to the last nanosecond;
// nothing ever stalls, since nobody waits without a limit for what might not come; what began has
// ended.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/channel.hpp>
#include <tandem/detail/random.hpp>
#include <tandem/event.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/mutex.hpp>
#include <tandem/race.hpp>
#include <tandem/run.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "planned_failure.hpp"
#include "seeded.hpp"

namespace {

using std::chrono::microseconds;
using tandem::as_result;
using tandem::task;
using tandem::with_timeout;
using tandem::test::mix;
using tandem::test::planned_failure;

/// One entry of the log: who, at which of its steps, did what, when, with which outcome.
struct happening {
  std::uint64_t who;
  int step;
  int what;
  std::int64_t when_ns;
  std::uint64_t outcome;
  bool operator==(const happening&) const = default;
};

void PrintTo(const happening& h, std::ostream* out) {
  *out << "task " << std::hex << h.who << std::dec << " step " << h.step << " op " << h.what
       << " at " << h.when_ns << " ns: " << h.outcome;
}

/// What the tasks of a program share. They run on one thread, so the log needs no lock.
class world {
 public:
  void note(std::uint64_t who, int step, int what, std::uint64_t outcome) {
    log.push_back({who, step, what, tandem::now().time_since_epoch().count(), outcome});
  }

  std::vector<happening> log;
  tandem::mutex mutex;
  int holders = 0;
  tandem::semaphore semaphore{2};
  int permits_out = 0;
  tandem::channel<std::uint64_t> channel{3};
  long begun = 0;
  long ended = 0;
};

/// How an await ended, as a number for the log.
template <class T>
std::uint64_t code_of(const tandem::result<T>& got) {
  if (got.has_value()) return 0;
  return got.is_cancelled() ? 1 : 2;
}

class presence {
 public:
  explicit presence(int& count, int most) : count_(count) { EXPECT_LE(++count_, most); }
  ~presence() { --count_; }
  presence(const presence&) = delete;
  presence& operator=(const presence&) = delete;

 private:
  int& count_;
};

class begun_and_ended {
 public:
  explicit begun_and_ended(world& in) : in_(in) { ++in_.begun; }
  ~begun_and_ended() { ++in_.ended; }
  begun_and_ended(const begun_and_ended&) = delete;
  begun_and_ended& operator=(const begun_and_ended&) = delete;

 private:
  world& in_;
};

task<void> live(world& in, std::uint64_t who, int depth);

task<void> locked(world& in, microseconds span) {
  const auto guard = co_await in.mutex.scoped_lock();
  const presence here(in.holders, 1);
  co_await tandem::sleep_for(span);
}

task<void> permitted(world& in, microseconds span) {
  const auto permit = co_await in.semaphore.scoped();
  const presence here(in.permits_out, 2);
  co_await tandem::sleep_for(span);
}

task<void> crowd(world& in, std::uint64_t dice, int depth) {
  co_await tandem::with_scope([&in, dice, depth](tandem::task_scope& scope) -> task<void> {
    for (std::uint64_t i = 0; i < 3; ++i) scope.spawn(live(in, mix(dice + i), depth - 1));
    if (dice % 3 == 0) co_await tandem::sleep_for(microseconds(dice % 500));
    if (dice % 5 == 0) scope.request_stop();
  });
}

task<void> pair_of(world& in, std::uint64_t dice, int depth) {
  switch (dice % 3) {
    case 0:
      co_await tandem::fork_join(live(in, mix(dice), depth - 1),
                                 live(in, mix(dice + 1), depth - 1));
      break;
    case 1:
      co_await tandem::when_all(live(in, mix(dice), depth - 1), live(in, mix(dice + 1), depth - 1));
      break;
    default:
      co_await tandem::race(live(in, mix(dice), depth - 1),
                            tandem::sleep_for(microseconds(dice % 2000)));
      break;
  }
}

task<std::uint64_t> spawned(world& in, std::uint64_t dice, int depth) {
  auto handle = tandem::spawn(live(in, mix(dice), depth - 1));
  if (dice % 4 == 0) co_await tandem::sleep_for(microseconds(dice % 300));
  if (dice % 3 == 0) (void)handle.cancel();
  if (dice % 5 == 0) co_return 9;  // detached
  co_return code_of(co_await as_result(handle.operator co_await()));
}

/// One step of a task; everything in it ends by itself or by a limit.
task<std::uint64_t> act(world& in, std::uint64_t dice, int what, int depth) {
  const microseconds span((dice >> 16) % 1000);
  const microseconds limit(1 + (dice >> 32) % 1500);
  switch (what) {
    case 0: co_await tandem::yield(); co_return 0;
    case 1: co_await tandem::sleep_for(span); co_return 0;
    case 2: co_return code_of(co_await as_result(with_timeout(limit, locked(in, span))));
    case 3: co_return code_of(co_await as_result(with_timeout(limit, permitted(in, span))));
    case 4: {
      std::uint64_t value = dice;
      co_return code_of(co_await as_result(with_timeout(limit, in.channel.send(std::move(value)))));
    }
    case 5: {
      const auto got = co_await as_result(with_timeout(limit, in.channel.receive()));
      if (!got.has_value()) co_return code_of(got);
      auto copy = got;
      co_return copy.value().value_or(0);
    }
    case 6: co_return tandem::detail::random_bits();  // of the clock's seed
    case 7: co_return code_of(co_await as_result(crowd(in, dice, depth)));
    case 8: co_return code_of(co_await as_result(pair_of(in, dice, depth)));
    case 9: co_return co_await spawned(in, dice, depth);
    default:
      co_return code_of(co_await as_result(with_timeout(limit, live(in, mix(dice), depth - 1))));
  }
}

task<void> live(world& in, std::uint64_t who, int depth) {
  const begun_and_ended here(in);
  const int steps = 1 + static_cast<int>(who % 4);
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t dice = mix(who + static_cast<std::uint64_t>(step) * 0x1000193U);
    if (dice % 97 == 0) throw planned_failure();
    const int what = static_cast<int>((dice >> 8) % (depth > 0 ? 11 : 7));
    std::uint64_t outcome = 0;
    try {
      outcome = co_await act(in, dice, what, depth);
    } catch (const tandem::operation_cancelled& stopped) {
      in.note(who, step, what, 100 + static_cast<std::uint64_t>(stopped.reason()));
      throw;
    }
    in.note(who, step, what, outcome);
  }
}

std::vector<happening> log_of(std::uint64_t program, std::uint64_t seed, unsigned workers) {
  world in;
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(seed, workers);
  options.on_unhandled_exception = [](const std::exception_ptr&) {};
  options.on_suppressed_exception = [](const std::exception_ptr&) {};
  tandem::runtime rt(options);
  std::vector<tandem::join_handle<void>> roots;
  for (std::uint64_t i = 0; i < 4; ++i) roots.push_back(rt.spawn(live(in, mix(program + i), 4)));
  for (auto& root : roots) {
    try {
      root.wait();
    } catch (const planned_failure&) {
    } catch (const tandem::operation_cancelled&) {
    } catch (const tandem::stalled& nothing_left) {
      ADD_FAILURE() << nothing_left.what();
    }
  }
  EXPECT_TRUE(rt.drain(std::chrono::hours(24))) << "what was detached does not end";
  EXPECT_EQ(rt.live_tasks(), 0U);
  EXPECT_EQ(in.begun, in.ended);
  EXPECT_EQ(in.semaphore.available(), 2U);
  EXPECT_TRUE(in.mutex.try_lock());
  return std::move(in.log);
}

TEST(virtual_time, a_random_program_repeats_its_whole_log_from_its_seed) {
  std::size_t programs = 0;
  std::size_t entries = 0;
  std::size_t schedules_that_differ = 0;
  tandem::test::stress([&](std::mt19937_64& random) {
    const std::uint64_t program = random();
    const std::uint64_t seed = random();
    const auto workers = static_cast<unsigned>(1 + random() % 5);
    const std::vector<happening> log = log_of(program, seed, workers);
    const std::vector<happening> again = log_of(program, seed, workers);
    ASSERT_EQ(log.size(), again.size()) << "program " << program << ", seed " << seed;
    for (std::size_t i = 0; i < log.size(); ++i) {
      ASSERT_EQ(log[i], again[i]) << "entry " << i << " of program " << program << ", seed " << seed
                                  << ", " << workers << " workers";
    }
    if (log != log_of(program, seed + 1, workers)) ++schedules_that_differ;
    ++programs;
    entries += log.size();
  });
  std::printf("%zu programs, %zu entries; %zu differ under another seed\n", programs, entries,
              schedules_that_differ);
  EXPECT_GT(schedules_that_differ * 2, programs) << "the seed does not choose the schedule";
}

}  // namespace
