// lanes_stress.cpp: every item of a lane goes to its owner or to one thief, never to both, never lost.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/detail/fifo_lane.hpp>
#include <tandem/detail/fork_lane.hpp>
#include <tandem/detail/injection_lane.hpp>

#include "seeded.hpp"

namespace {

using tandem::test::stress;

struct counted : tandem::job {
  std::atomic<int> taken{0};
};

void take(tandem::job* item) { static_cast<counted*>(item)->taken.fetch_add(1); }

void expect_each_taken_once(const std::vector<counted>& items) {
  for (const counted& item : items) ASSERT_EQ(item.taken.load(), 1);
}

void put(tandem::detail::fork_lane& lane, counted& item) {
  if (lane.push(&item)) (void)lane.look_after();
}

TEST(fork_lane, last_item_goes_to_owner_or_thief_never_both) {
  stress([](std::mt19937_64& random) {
    // Short bursts keep the lane near empty, where owner and thieves meet.
    const int rounds = 2000;
    std::vector<counted> items(static_cast<std::size_t>(rounds) * 3);
    tandem::detail::fork_lane lane;
    std::atomic<bool> end{false};
    std::vector<std::thread> thieves;
    for (int i = 0; i < 2; ++i) {
      thieves.emplace_back([&] {
        while (!end.load(std::memory_order_relaxed)) {
          if (tandem::job* item = lane.steal()) take(item);
        }
      });
    }
    std::size_t next = 0;
    for (int round = 0; round < rounds; ++round) {
      const auto burst = 1 + random() % 3;
      for (std::size_t i = 0; i < burst; ++i) put(lane, items[next++]);
      for (std::size_t i = 0; i < burst; ++i) {
        if (tandem::job* item = lane.pop()) take(item);
      }
    }
    while (tandem::job* item = lane.pop()) take(item);
    end.store(true);
    for (auto& thief : thieves) thief.join();
    for (std::size_t i = 0; i < next; ++i) ASSERT_EQ(items[i].taken.load(), 1);
  });
}

TEST(fork_lane, nothing_is_lost_while_the_ring_grows) {
  stress([](std::mt19937_64& random) {
    std::vector<counted> items(20'000);
    tandem::detail::fork_lane lane;
    std::atomic<bool> end{false};
    std::thread thief([&] {
      while (!end.load(std::memory_order_relaxed)) {
        if (tandem::job* item = lane.steal()) take(item);
      }
    });
    for (counted& item : items) {
      put(lane, item);
      if (random() % 8 == 0) {
        if (tandem::job* own = lane.pop()) take(own);
      }
    }
    while (tandem::job* item = lane.pop()) take(item);
    end.store(true);
    thief.join();
    while (tandem::job* item = lane.steal()) take(item);
    expect_each_taken_once(items);
  });
}

TEST(fork_lane, once_its_owner_looks_thieves_find_something_whenever_there_is_anything) {
  std::vector<counted> items(64);
  stress([&](std::mt19937_64& random) {
    tandem::detail::fork_lane lane;
    std::size_t held = 0;
    for (int step = 0; step < 3000; ++step) {
      switch (random() % 4) {
        case 0:
        case 1:
          if (held < items.size()) put(lane, items[held++]);
          break;
        case 2:
          if (lane.attention.load()) (void)lane.look_after();  // as a join does
          if (lane.pop() != nullptr) --held;
          break;
        default:
          if (lane.steal() != nullptr) --held;
      }
      ASSERT_EQ(lane.size(), held);
      if (lane.attention.load()) (void)lane.look_after();
      ASSERT_EQ(lane.empty(), held == 0) << "step " << step;
    }
  });
}

TEST(fifo_lane, every_item_is_taken_once_by_owner_or_thieves) {
  stress([](std::mt19937_64& random) {
    std::vector<counted> items(20'000);
    tandem::detail::fifo_lane lane;
    std::atomic<bool> end{false};
    std::vector<std::thread> thieves;
    for (int i = 0; i < 2; ++i) {
      thieves.emplace_back([&] {
        tandem::detail::fifo_lane own;
        std::uint32_t stolen = 0;
        while (!end.load(std::memory_order_relaxed)) {
          if (tandem::job* item = lane.steal_half(own, stolen)) take(item);
          while (tandem::job* item = own.pop()) take(item);
          if (tandem::job* item = lane.take_next()) take(item);
        }
      });
    }
    for (counted& item : items) {
      if (random() % 4 == 0) {
        if (tandem::job* displaced = lane.exchange_next(&item)) {
          while (!lane.push(displaced)) {
            if (tandem::job* oldest = lane.pop()) take(oldest);
          }
        }
      } else {
        while (!lane.push(&item)) {
          if (tandem::job* oldest = lane.pop()) take(oldest);
        }
      }
      if (random() % 3 == 0) {
        if (tandem::job* oldest = lane.pop()) take(oldest);
      }
    }
    while (tandem::job* item = lane.pop()) take(item);
    if (tandem::job* item = lane.take_next()) take(item);
    end.store(true);
    for (auto& thief : thieves) thief.join();
    expect_each_taken_once(items);
  });
}

TEST(fifo_lane, keeps_its_order_for_the_owner) {
  std::vector<counted> items(1000);
  tandem::detail::fifo_lane lane;
  std::size_t out = 0;
  std::size_t in = 0;
  while (out < items.size()) {
    while (in < items.size() && lane.push(&items[in])) ++in;
    ASSERT_EQ(lane.pop(), &items[out++]);
  }
  EXPECT_TRUE(lane.empty());
}

TEST(injection_lane, several_who_take_one_at_a_time_lose_nothing) {
  stress([](std::mt19937_64&) {
    std::vector<counted> items(20'000);
    tandem::detail::injection_lane queue;
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> taken{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < items.size(); at = next++) {
          tandem::job_list one;
          one.push_back(&items[at]);
          queue.push(one);
        }
      });
      threads.emplace_back([&] {
        while (taken.load() < items.size()) {
          if (tandem::job* item = queue.pop()) {
            take(item);
            ++taken;
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
    expect_each_taken_once(items);
  });
}

TEST(injection_lane, several_producers_and_consumers_lose_nothing) {
  stress([](std::mt19937_64&) {
    std::vector<counted> items(20'000);
    tandem::detail::injection_lane queue;
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> taken{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < items.size(); at = next++) {
          if (!queue.push_behind(&items[at], &items[at])) queue.push(&items[at], &items[at]);
        }
      });
      // Takes lots into a lane of its own, and hands back every third item that it took first.
      threads.emplace_back([&] {
        tandem::detail::fifo_lane lane;
        for (unsigned round = 0; taken.load() < items.size(); ++round) {
          std::size_t left = 0;
          tandem::job* item = queue.pop_into(&lane, 16, 2, left);
          if (item != nullptr && round % 3 == 0) {
            tandem::job_list back;
            back.push_back(std::exchange(item, nullptr));
            queue.hand_over(back);
          }
          for (; item != nullptr; item = lane.pop()) {
            take(item);
            ++taken;
          }
          while (tandem::job* const other = lane.pop()) {
            take(other);
            ++taken;
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
    expect_each_taken_once(items);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.pushed(), items.size());
  });
}

// Two items are posted; whoever takes the first one gathers both from the inbox into the
// list. Meanwhile another thread looks: the second one is there all the time.
TEST(injection_lane, what_nobody_has_taken_is_never_out_of_sight) {
  constexpr int rounds = 500;
  stress([](std::mt19937_64&) {
    std::vector<counted> items(2 * rounds);
    tandem::detail::injection_lane queue;
    std::atomic<int> posted{-1};
    std::atomic<int> taken{-1};
    std::thread taker([&] {
      for (int round = 0; round < rounds; ++round) {
        while (posted.load() != round) std::this_thread::yield();
        take(queue.pop());
        taken.store(round);
      }
    });
    int out_of_sight = 0;
    for (int round = 0; round < rounds; ++round) {
      for (const int i : {0, 1}) {
        counted& one = items[static_cast<std::size_t>(2 * round + i)];
        queue.push(&one, &one);
      }
      posted.store(round);
      for (unsigned looks = 1; taken.load() != round; ++looks) {
        if (queue.empty()) ++out_of_sight;
        if (looks % 256 == 0) std::this_thread::yield();
      }
      take(queue.pop());
    }
    taker.join();
    EXPECT_EQ(out_of_sight, 0);
    expect_each_taken_once(items);
  });
}

}  // namespace
