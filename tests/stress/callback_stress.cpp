// callback_stress.cpp: callbacks that come at once, from other threads, twice, never, or after a stop: one end each.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>

#include "seeded.hpp"
#include "spin.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::task;

constexpr int awaits_a_round = 2000;
constexpr int tasks = 8;
constexpr int enough_in_ci = 20'000;
constexpr int enough_in_a_night = 1'000'000;

/// What the library does with a callback.
enum class way : std::uint8_t { before_return, foreign_thread, twice, dropped, after_a_stop };
constexpr std::size_t ways = 5;
/// What a stop does.
enum class heeds : std::uint8_t { waits, lets_go, tells };

/// An argument; those that live are counted.
class argument {
 public:
  explicit argument(int of) noexcept : number(of) { ++alive; }
  argument(const argument& other) noexcept : number(other.number) { ++alive; }
  argument& operator=(const argument&) = delete;
  ~argument() { --alive; }

  int number;
  static inline std::atomic<int> alive{0};
};
using done = tandem::callback<void(argument)>;

std::atomic<std::uint64_t> calls_made{0};

void call(const done& one, int number) {
  ++calls_made;
  one(argument(number));
}

/// Threads of another library: each takes what was left to it, in any order.
class foreign_library {
 public:
  struct item {
    done one;
    way how;
    std::shared_ptr<std::atomic<bool>> stopped;  // of after_a_stop: when it may be called
  };

  explicit foreign_library(std::uint64_t seed) {
    for (auto& each : lanes_) {
      each.thread = std::thread([&each, seed = seed++] { work(each, seed); });
    }
  }
  foreign_library(const foreign_library&) = delete;
  foreign_library& operator=(const foreign_library&) = delete;
  ~foreign_library() {
    for (auto& each : lanes_) each.over = true;
    for (auto& each : lanes_) each.thread.join();
  }
  void leave(item one, std::uint64_t choice) {
    lane& mine = lanes_[choice % lanes_.size()];
    const std::lock_guard guard(mine.lock);
    mine.left.push_back(std::move(one));
  }

 private:
  struct lane {
    std::mutex lock;
    std::vector<item> left;
    std::atomic<bool> over{false};
    std::thread thread;
  };

  static void work(lane& mine, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<item> now;
    std::vector<done> spent;  // called already: the next call is a late one
    while (true) {
      {
        const std::lock_guard guard(mine.lock);
        now.insert(now.end(), mine.left.begin(), mine.left.end());
        mine.left.clear();
      }
      if (now.empty() && mine.over) break;
      std::shuffle(now.begin(), now.end(), random);
      const auto dealt = std::partition(now.begin(), now.end(), [](const item& each) {
        return each.stopped != nullptr && !*each.stopped;
      });
      if (dealt == now.end()) std::this_thread::yield();
      for (auto each = dealt; each != now.end(); ++each) deal_with(*each, spent, random);
      now.erase(dealt, now.end());
      if (spent.size() > 64) call_again(spent);
    }
    call_again(spent);
  }
  static void deal_with(item& of, std::vector<done>& spent, std::mt19937_64& random) {
    if (of.how == way::dropped) return;
    if (of.how != way::before_return) call(of.one, 1);
    if (of.how == way::twice) call(of.one, 2);
    if (random() % 4 == 0) spent.push_back(std::move(of.one));
  }
  static void call_again(std::vector<done>& spent) {
    for (const done& old : spent) call(old, 3);
    spent.clear();
  }

  std::array<lane, 4> lanes_;
};

struct ends {
  std::array<std::atomic<int>, ways> of_way{};
  std::atomic<std::uint64_t> called{0};
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint64_t> stopped{0};
};

/// A callback that is told of the stop as well as called by the library.
struct told {
  std::mutex lock;
  std::optional<done> one;

  void call_last() noexcept {
    std::optional<done> mine;
    {
      const std::lock_guard guard(lock);
      mine.swap(one);
    }
    if (mine) call(*mine, -1);
  }
};

struct plan {
  plan(way w, heeds h, std::uint64_t random) : how(w), stop(h), choice(random) {}
  way how;
  heeds stop;
  std::uint64_t choice;
  std::shared_ptr<std::atomic<bool>> stopped;
};

template <class OnStop>
task<void> await_one(foreign_library& library, plan chosen, ends& all, told* also, OnStop on_stop) {
  std::atomic<int> converted{0};  // lent: a call after the end would write into it
  auto got = co_await tandem::as_result(tandem::from_callback<void(argument)>(
      [&](done of) {
        if (also != nullptr) {
          const std::lock_guard guard(also->lock);
          also->one = of;
        }
        if (chosen.how == way::before_return) call(of, 1);
        library.leave({std::move(of), chosen.how, chosen.stopped}, chosen.choice);
      },
      [&](const argument& given) {
        EXPECT_EQ(converted.fetch_add(1), 0);
        return given;
      },
      on_stop));
  if (got) {
    // Only the first call converts: 2 and 3 are calls that came late.
    const int number = got.value().number;
    EXPECT_TRUE(number == 1 || number == -1) << number;
    EXPECT_EQ(converted, 1);
    ++all.called;
  } else {
    EXPECT_EQ(converted, 0);
    if (!got.is_cancelled()) {
      EXPECT_EQ(got.error(), tandem::errc::callback_dropped);
      EXPECT_EQ(chosen.how, way::dropped);
    }
    ++(got.is_cancelled() ? all.stopped : all.dropped);
  }
}

task<void> await_as(foreign_library& library, plan chosen, ends& all) {
  switch (chosen.stop) {
    case heeds::waits:
      co_await await_one(library, std::move(chosen), all, nullptr, tandem::stop_waits_t());
      break;
    case heeds::lets_go:
      co_await await_one(library, std::move(chosen), all, nullptr, tandem::abandonable);
      break;
    case heeds::tells: {
      told both;
      const auto tell = [&both]() noexcept { both.call_last(); };
      co_await await_one(library, std::move(chosen), all, &both, tell);
    }
  }
}

task<void> await_many(foreign_library& library, std::uint64_t seed, int count, ends& all) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < count; ++i) {
    plan chosen{static_cast<way>(random() % ways), static_cast<heeds>(random() % 3), random()};
    // Where the task keeps a copy for the stop, too, nothing is dropped before one comes.
    if (chosen.how == way::dropped && chosen.stop == heeds::tells) chosen.stop = heeds::waits;
    if (chosen.how == way::after_a_stop) {
      chosen.stopped = std::make_shared<std::atomic<bool>>(false);
    }
    ++all.of_way[static_cast<std::size_t>(chosen.how)];
    if (chosen.how != way::after_a_stop && random() % 4 != 0) {
      co_await await_as(library, std::move(chosen), all);
      continue;
    }
    // A stop that comes at any time: before it, while it starts, beside its end.
    const auto has_stopped = chosen.stopped;
    auto stopped = tandem::spawn(await_as(library, std::move(chosen), all));
    tandem::test::spin(random() % 200);
    stopped.cancel();
    if (has_stopped != nullptr) *has_stopped = true;
    const auto end = co_await tandem::as_result(std::move(stopped));
    if (!end && end.is_cancelled()) ++all.stopped;  // it had not begun
  }
}

TEST(callback_stress, each_await_ends_once_and_nothing_is_left) {
  ends all;
  int awaited = 0;
  const std::uint64_t late_before = tandem::late_callbacks();
  const int enough = tandem::test::is_nightly() ? enough_in_a_night : enough_in_ci;
  tandem::test::stress_until(
      std::chrono::seconds(2), [&] { return awaited >= enough; },
      [&](std::mt19937_64& random) {
        tandem::test::test_runtime rt(tandem::test::with_threads(4));
        {
          foreign_library library(random());
          rt.run([](foreign_library& of, std::uint64_t seed, ends& counts) -> task<void> {
            co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
              for (int i = 0; i < tasks; ++i) {
                scope.spawn(await_many(of, seed + static_cast<std::uint64_t>(i),
                                       awaits_a_round / tasks, counts));
              }
              co_await scope.join();
            });
          }(library, random(), all));
        }
        awaited += awaits_a_round;
        EXPECT_EQ(all.called + all.dropped + all.stopped, static_cast<std::uint64_t>(awaited));
        // Each call has ended an await, or came too late.
        EXPECT_EQ(calls_made - all.called, tandem::late_callbacks() - late_before);
        EXPECT_EQ(argument::alive, 0);
        EXPECT_EQ(tandem::detail::callback_slots_in_use(), 0U);
        EXPECT_TRUE(rt->drain(std::chrono::seconds(60)));
        EXPECT_EQ(rt->live_tasks(), 0U);
      });
  for (const auto& each : all.of_way) EXPECT_GT(each, 0);
  std::printf(
      "%d awaits (%d before return, %d foreign, %d twice, %d dropped, %d after a stop): "
      "%llu called, %llu dropped, %llu stopped; %llu late calls\n",
      awaited, all.of_way[0].load(), all.of_way[1].load(), all.of_way[2].load(),
      all.of_way[3].load(), all.of_way[4].load(), static_cast<unsigned long long>(all.called),
      static_cast<unsigned long long>(all.dropped), static_cast<unsigned long long>(all.stopped),
      static_cast<unsigned long long>(tandem::late_callbacks() - late_before));
}

}  // namespace
