// sharing_stress.cpp: shared tasks and single flights, with stops of waiters that race the work's end.
// SPDX-License-Identifier: MIT
//
// The laws: work begins at most once, and what has begun ends; whoever is not stopped gets the
// value; a call is shared by those with its key only, and never joined once it has been given up.
// A lost wake-up is a hang, which the watchdog reports.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <tandem/shared_task.hpp>
#include <tandem/single_flight.hpp>
#include <tandem/sleep.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "sync_actors.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::dice;
using tandem::test::handles;
using tandem::test::perhaps_limited;
using tandem::test::some_threads;
using tandem::test::stop_some;
using tandem::test::stress;
using tandem::test::test_runtime;
using tandem::test::wait_for_all;

/// What all work of a run counts.
struct tally {
  std::atomic<long> begun{0};
  std::atomic<long> ended{0};
  std::atomic<long> got{0};
  std::atomic<long> stopped{0};
  std::atomic<long> broken{0};
};

class counted_work {
 public:
  explicit counted_work(tally& all) : all_(all) { ++all_.begun; }
  ~counted_work() { ++all_.ended; }
  counted_work(const counted_work&) = delete;
  counted_work& operator=(const counted_work&) = delete;

 private:
  tally& all_;
};

/// @returns  `value`, after a while, or at once
task<std::uint64_t> work(tally& all, std::uint64_t value, std::uint64_t kind) {
  const counted_work here(all);
  if (kind % 3 == 0) co_await tandem::yield();
  if (kind % 3 == 1) co_await tandem::sleep_for(std::chrono::microseconds(kind % 50));
  co_return value;
}

TEST(sharing, work_begins_once_and_whoever_stays_gets_its_value) {
  using shared_work = tandem::shared_task<std::uint64_t>;
  struct actor {
    static task<void> ask(tally& all, shared_work held, std::uint64_t value) {
      const std::uint64_t got = co_await held;
      if (got != value) ++all.broken;
      ++all.got;
    }
    static task<void> run(tally& all, std::vector<shared_work> held, std::uint64_t seed) {
      dice random(seed);
      for (std::size_t i = 0; i < held.size(); ++i) {
        if (random(4) == 0) {
          held[i] = shared_work();  // without a wait
          continue;
        }
        auto next = ask(all, std::move(held[i]), i);
        if (!co_await perhaps_limited(std::move(next), random)) ++all.stopped;
      }
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    tally all;
    constexpr std::size_t rounds = 60;
    std::vector<shared_work> shared;
    for (std::size_t i = 0; i < rounds; ++i) shared.emplace_back(work(all, i, random()));
    handles actors;
    for (int i = 0; i < 6; ++i) {
      actors.push_back(rt->spawn(actor::run(all, shared, random())));
    }
    shared.clear();
    stop_some(actors, random);
    wait_for_all(actors);
    EXPECT_TRUE(rt->drain(60s));
    EXPECT_EQ(all.broken, 0);
    EXPECT_LE(all.begun, static_cast<long>(rounds));
    EXPECT_EQ(all.begun, all.ended);
  });
}

TEST(sharing, a_flight_is_shared_by_those_with_its_key) {
  struct state {
    tally all;
    tandem::single_flight<std::uint64_t, std::uint64_t> flights;
  };
  struct actor {
    static task<void> ask(state& s, std::uint64_t key, std::uint64_t kind) {
      const auto make = [&s, kind](std::uint64_t of) { return work(s.all, of, kind); };
      const std::uint64_t got = co_await s.flights.run(key, make);
      if (got != key) ++s.all.broken;
      ++s.all.got;
    }
    static task<void> run(state& s, std::uint64_t seed) {
      dice random(seed);
      for (int i = 0; i < 100; ++i) {
        auto next = ask(s, random(3), random(1000));
        if (!co_await perhaps_limited(std::move(next), random)) ++s.all.stopped;
      }
    }
  };
  stress([](std::mt19937_64& random) {
    state s;
    {
      test_runtime rt(some_threads(random));
      handles actors;
      for (int i = 0; i < 6; ++i) actors.push_back(rt->spawn(actor::run(s, random())));
      stop_some(actors, random);
      wait_for_all(actors);
      EXPECT_TRUE(rt->drain(60s));
    }
    EXPECT_EQ(s.all.broken, 0);
    EXPECT_EQ(s.all.begun, s.all.ended);
    EXPECT_LE(s.all.begun, s.all.got + s.all.stopped + 6);
    EXPECT_EQ(s.flights.in_flight(), 0U);
  });
}

}  // namespace
