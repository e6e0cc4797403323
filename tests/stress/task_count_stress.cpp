// task_count_stress.cpp: threads that start and end tasks on several shards, while others wait for the last one.
// SPDX-License-Identifier: MIT
//
// The laws: nobody waits in vain, no wait is over while a task lives, and nobody touches the count
// once all who end tasks from outside have left. Each round has a count of its own, in the same
// memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <tandem/detail/split_mix.hpp>
#include <thread>
#include <vector>

#include "platform/futex.hpp"
#include "platform/spin_pause.hpp"
#include "runtime/task_count.hpp"
#include "seeded.hpp"

namespace {

using tandem::detail::split_mix;
using tandem::detail::task_count;
using tandem::platform::no_deadline;
using tandem::test::stress;

/// What all threads of a round know. Written between rounds by the thread that begins them.
struct one_round {
  std::optional<task_count> tasks;
  std::vector<std::uint64_t> seeds;
  // Tasks that each actor ends at last, and those that anybody may end before.
  std::atomic<std::size_t> own_left{0};
  std::atomic<int> shared_left{0};
};

/// Spins first: a round has to begin for all at nearly the same moment.
template <class Condition>
void spin_until(Condition holds) {
  for (int i = 0; !holds(); ++i) {
    if (i < 1000) {
      tandem::platform::spin_pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void pause(std::uint64_t& random) {
  for (std::uint64_t i = split_mix(random) % 8; i != 0; --i) {
    tandem::platform::spin_pause();
  }
}

void end_one(one_round& of) {
  const task_count::outside_end here(*of.tasks);
  (void)of.tasks->end();
}

bool take_shared(one_round& of) {
  int left = of.shared_left.load();
  while (left > 0) {
    if (of.shared_left.compare_exchange_weak(left, left - 1)) return true;
  }
  return false;
}

/// It has a task of its own all the time, so those that it starts are never the first of a tree.
void act(one_round& of, std::uint64_t random) {
  pause(random);
  for (std::uint64_t steps = split_mix(random) % 8; steps != 0; --steps) {
    if (split_mix(random) % 2 == 0) {
      of.tasks->start();
      ++of.shared_left;
    } else if (take_shared(of)) {
      end_one(of);
    }
  }
  while (take_shared(of)) end_one(of);
  --of.own_left;
  end_one(of);
}

void wait(one_round& of, std::uint64_t random) {
  pause(random);
  EXPECT_TRUE(of.tasks->wait_for_none(no_deadline));
  EXPECT_EQ(of.own_left, 0U);
  EXPECT_EQ(of.shared_left, 0);
}

/// Threads that stay for many rounds.
class crowd {
 public:
  crowd(std::size_t actors, bool two_wait) : actors_(actors), two_wait_(two_wait) {
    of_.seeds.resize(actors + 1);
    for (std::size_t i = 0; i < actors; ++i) {
      threads_.emplace_back([this, i] { run([this, i] { act(of_, of_.seeds[i]); }); });
    }
    if (two_wait) {
      threads_.emplace_back([this] {
        run([this] {
          wait(of_, of_.seeds[actors_]);
          second_has_waited_ = true;
        });
      });
    }
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd() {
    over_ = true;
    ++begun_;
    for (std::thread& each : threads_) each.join();
  }

  void play(std::mt19937_64& random) {
    of_.tasks.emplace();
    for (std::uint64_t& each : of_.seeds) each = random();
    of_.own_left = actors_;
    for (std::size_t i = 0; i < actors_; ++i) of_.tasks->start();
    const std::uint64_t mine = random();
    ready_ = 0;
    second_has_waited_ = false;
    ++begun_;
    wait(of_, mine);
    // Others who wait are waited for by whoever lets the count end.
    if (two_wait_) spin_until([this] { return second_has_waited_.load(); });
    of_.tasks->wait_for_outside_ends();
    of_.tasks.emplace();
    spin_until([this] { return ready_ == threads_.size(); });
    EXPECT_EQ(of_.tasks->live(), 0U) << "somebody has counted an end late";
    of_.tasks->wait_for_outside_ends();  // for ever, if somebody has left late
  }

 private:
  template <class Part>
  void run(Part part) {
    for (unsigned seen = 0;; ++seen) {
      spin_until([this, seen] { return begun_ != seen; });
      if (over_) return;
      part();
      ++ready_;
    }
  }

  const std::size_t actors_;
  const bool two_wait_;
  one_round of_;
  std::atomic<unsigned> begun_{0};
  std::atomic<std::size_t> ready_{0};
  std::atomic<bool> second_has_waited_{false};
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

TEST(task_count_stress, nobody_waits_in_vain_and_no_wait_is_over_while_a_task_lives) {
  stress([](std::mt19937_64& random) {
    // Mostly two threads in all, so that they run at the same time wherever there are two CPUs.
    const bool few = random() % 4 != 0;
    crowd all(few ? 1 : 1 + random() % 3, !few && random() % 2 == 0);
    for (int i = 0; i < 1000 && !::testing::Test::HasFailure(); ++i) all.play(random);
  });
}

}  // namespace
