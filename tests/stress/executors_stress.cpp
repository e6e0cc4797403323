// executors_stress.cpp: strands, threads, fair queues and priorities, in each other, ending at any moment.
// SPDX-License-Identifier: MIT
//
// The laws: segments of one strand never overlap; what was admitted runs, once, and its task ends;
// what was refused never runs; a closed queue goes, once; a thread's end waits for its tasks. A
// lost turn or token is a hang, which the watchdog reports; a handle that was the last one too
// early is the sanitizers' to find.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <tandem/fair_scheduler.hpp>
#include <tandem/priority_scheduler.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/sleep.hpp>
#include <tandem/strand.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "sync_actors.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::fair_queue;
using tandem::fair_scheduler;
using tandem::priority_scheduler;
using tandem::single_thread_executor;
using tandem::strand;
using tandem::task;
using tandem::test::dice;
using tandem::test::handles;
using tandem::test::some_threads;
using tandem::test::spin;
using tandem::test::stop_some;
using tandem::test::stress;
using tandem::test::test_runtime;
using tandem::test::wait_for_all;

/// Gives way in one of several manners, or not at all.
task<void> pause(dice& random) {
  switch (random(8)) {
    case 0: co_await tandem::sleep_for(std::chrono::microseconds(random(50))); break;
    case 1:
    case 2: break;
    default: co_await tandem::yield();
  }
}

/// A strand, and what only its tasks touch.
struct guarded {
  explicit guarded(tandem::executor& below) : home(below) {}

  void step(dice& random) noexcept {
    if (inside.exchange(true, std::memory_order_relaxed)) ++overlaps;
    ++steps;  // ThreadSanitizer sees whether one step happens before the next
    spin(random(20));
    inside.store(false, std::memory_order_relaxed);
  }

  strand home;
  std::atomic<bool> inside{false};
  std::atomic<long> overlaps{0};
  long steps = 0;
};

/// Moves between all of them, and steps where it is.
task<void> wander(std::vector<std::unique_ptr<guarded>>& all, std::uint64_t seed) {
  dice random(seed);
  for (int i = 0; i < 50; ++i) {
    guarded& here = *all[random(all.size())];
    co_await tandem::resume_on(here.home);
    here.step(random);
    co_await pause(random);
    here.step(random);
  }
}

TEST(executors_stress, segments_of_a_strand_never_overlap_whatever_it_runs_on) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    single_thread_executor thread(*rt);
    fair_scheduler fair(rt.workers());
    fair_queue queue = fair.add_queue(1 + static_cast<unsigned>(random() % 5));
    priority_scheduler levels(rt.workers(), tandem::priority_ageing().after_items(10));
    std::vector<std::unique_ptr<guarded>> all;
    all.push_back(std::make_unique<guarded>(rt.workers()));
    all.push_back(std::make_unique<guarded>(thread));
    all.push_back(std::make_unique<guarded>(queue));
    all.push_back(std::make_unique<guarded>(levels.level(tandem::priority::low)));
    all.push_back(std::make_unique<guarded>(all.front()->home.executor()));
    handles tasks;
    for (int i = 0; i < 12; ++i) {
      tasks.push_back(rt->spawn(all[random() % all.size()]->home, wander(all, random())));
    }
    stop_some(tasks, random);
    wait_for_all(tasks);
    for (const auto& each : all) EXPECT_EQ(each->overlaps.load(), 0);
  });
}

TEST(executors_stress, a_strand_may_lose_its_last_handle_at_any_moment) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    std::atomic<long> ended{0};
    long begun = 0;
    for (int i = 0; i < 50; ++i) {
      strand one(rt.workers());
      for (std::uint64_t k = random() % 4; k > 0; --k) {
        ++begun;
        rt->spawn(one,
                  [](std::atomic<long>& count, std::uint64_t seed) -> task<void> {
                    dice own(seed);
                    for (int n = 0; n < 5; ++n) co_await pause(own);
                    ++count;
                  }(ended, random()))
            .detach();
      }
      spin(random() % 2000);
    }
    EXPECT_TRUE(rt->drain(std::chrono::hours(1)));
    EXPECT_EQ(ended.load(), begun);
  });
}

/// Spawns on `home` until it is refused, or has had enough. @returns how many were admitted
long spawn_until_refused(tandem::runtime& rt, tandem::executor& home, std::atomic<long>& ended,
                         std::uint64_t seed) {
  dice random(seed);
  long admitted = 0;
  try {
    for (int i = 0; i < 100; ++i) {
      rt.spawn(home,
               [](std::atomic<long>& count, std::uint64_t own) -> task<void> {
                 dice dice_of_task(own);
                 co_await pause(dice_of_task);
                 ++count;
               }(ended, random(1 << 30)))
          .detach();
      ++admitted;
      spin(random(200));
    }
  } catch (const tandem::executor_closed&) {}
  return admitted;
}

TEST(executors_stress, a_thread_may_end_at_any_moment) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    std::atomic<long> ended{0};
    std::atomic<long> admitted{0};
    {
      single_thread_executor home(*rt);
      std::vector<std::thread> spawners;
      for (int i = 0; i < 3; ++i) {
        spawners.emplace_back(
            [&, seed = random()] { admitted += spawn_until_refused(*rt, home, ended, seed); });
      }
      spin(random() % 20'000);
      if (random() % 2 == 0) home.close();
      for (auto& each : spawners) each.join();
    }
    EXPECT_EQ(ended.load(), admitted.load());
  });
}

TEST(executors_stress, fair_queues_come_and_go) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    fair_scheduler fair(rt.workers());
    std::atomic<long> ended{0};
    std::atomic<long> admitted{0};
    const fair_queue stays = fair.add_queue();
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back([&, seed = random()] {
        dice own(seed);
        for (int k = 0; k < 10; ++k) {
          fair_queue batch = fair.add_queue(1 + static_cast<unsigned>(own(4)));
          std::thread closer([copy = batch, turns = own(20'000)]() mutable {
            spin(turns);
            copy.close();
          });
          admitted += spawn_until_refused(*rt, batch, ended, own(1 << 30));
          if (own(2) == 0) batch = fair_queue();
          closer.join();
        }
      });
    }
    for (auto& each : clients) each.join();
    EXPECT_TRUE(rt->drain(std::chrono::hours(1)));
    EXPECT_EQ(ended.load(), admitted.load());
    rt->shutdown();
    EXPECT_EQ(fair.queue_count(), 1U);
    EXPECT_EQ(fair.waiting(), 0U);
  });
}

TEST(executors_stress, tasks_of_every_priority_end) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    tandem::priority_ageing ageing;
    if (random() % 2 == 0) ageing.after_items(random() % 20);
    if (random() % 2 == 0) ageing.after_time(std::chrono::microseconds(random() % 100));
    std::atomic<long> ended{0};
    std::atomic<long> admitted{0};
    {
      const priority_scheduler levels(rt.workers(), ageing);
      std::vector<std::thread> clients;
      for (int i = 0; i < 3; ++i) {
        clients.emplace_back([&, seed = random()] {
          dice own(seed);
          for (int k = 0; k < 5; ++k) {
            const auto level = static_cast<tandem::priority>(own(tandem::priority_count));
            admitted += spawn_until_refused(*rt, levels.level(level), ended, own(1 << 30));
          }
        });
      }
      for (auto& each : clients) each.join();
    }
    EXPECT_TRUE(rt->drain(std::chrono::hours(1)));
    EXPECT_EQ(ended.load(), admitted.load());
    EXPECT_EQ(admitted.load(), 3 * 5 * 100);
  });
}

}  // namespace
