// callback_stress.cpp: callbacks that come at once, from other threads, twice, never, or with a stop: one end each.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>

#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::callback;
using tandem::task;

constexpr int awaits_a_round = 2000;
constexpr int tasks = 8;

/// Threads of another library: each takes what was left to it, in any order, and does one of the
/// things that libraries do.
class foreign_library {
 public:
  using done = callback<void(int)>;

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
  /// @param may_drop  nobody else holds it
  void leave(done one, std::uint64_t choice, bool may_drop) {
    lane& mine = lanes_[choice % lanes_.size()];
    const std::lock_guard guard(mine.lock);
    mine.left.push_back({std::move(one), may_drop});
  }

 private:
  struct item {
    done one;
    bool may_drop;
  };
  struct lane {
    std::mutex lock;
    std::vector<item> left;
    std::vector<done> spent;  // called already: the next call is a late one
    std::atomic<bool> over{false};
    std::thread thread;
  };

  static void work(lane& mine, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<item> now;
    while (true) {
      {
        const std::lock_guard guard(mine.lock);
        now.swap(mine.left);
      }
      if (now.empty() && mine.over) return;
      if (now.empty()) std::this_thread::yield();
      std::shuffle(now.begin(), now.end(), random);
      for (item& each : now) deal_with(mine, std::move(each), random);
      now.clear();
    }
  }
  static void deal_with(lane& mine, item of, std::mt19937_64& random) {
    done one = std::move(of.one);
    switch (random() % 4) {
      case 0:
        if (of.may_drop) break;
        [[fallthrough]];
      case 1: one(1); break;
      case 2:
        one(1);
        one(2);
        break;
      default:
        one(1);
        mine.spent.push_back(std::move(one));
        if (mine.spent.size() > 64) {
          for (const done& old : mine.spent) old(3);
          mine.spent.clear();
        }
    }
  }

  std::array<lane, 4> lanes_;
};

struct ends {
  std::atomic<int> called{0};
  std::atomic<int> dropped{0};
  std::atomic<int> stopped{0};
};

/// What the task lends for the await: a call after the await's end would write into it.
struct lent {
  std::atomic<int> calls{0};
};

enum class heeds { waits, lets_go, tells };

/// A callback that is told of the stop as well as called by the library.
struct told {
  std::mutex lock;
  std::optional<foreign_library::done> one;
};

template <class OnStop>
task<void> await_one(foreign_library& library, std::uint64_t choice, ends& all, told* also,
                     OnStop on_stop) {
  lent mine;
  auto got = co_await tandem::as_result(tandem::from_callback<void(int)>(
      [&, choice](auto done) {
        if (also != nullptr) {
          const std::lock_guard guard(also->lock);
          also->one = done;
        }
        if (choice % 5 == 0) done(1);
        library.leave(std::move(done), choice / 5, also == nullptr);
      },
      [&mine](int number) {
        EXPECT_EQ(mine.calls.fetch_add(1), 0);
        return number;
      },
      on_stop));
  if (got) {
    // Only the first call converts: 2 and 3 are calls that came late.
    EXPECT_TRUE(got.value() == 1 || got.value() == -1) << got.value();
    EXPECT_EQ(mine.calls, 1);
    ++all.called;
  } else if (got.is_cancelled()) {
    EXPECT_EQ(mine.calls, 0);
    ++all.stopped;
  } else {
    EXPECT_EQ(got.error(), tandem::errc::callback_dropped);
    EXPECT_EQ(mine.calls, 0);
    ++all.dropped;
  }
}

task<void> await_as(heeds how, foreign_library& library, std::uint64_t choice, ends& all) {
  if (how == heeds::waits) {
    return await_one(library, choice, all, nullptr, tandem::stop_waits_t());
  }
  if (how == heeds::lets_go) {
    return await_one(library, choice, all, nullptr, tandem::abandonable);
  }
  return [](foreign_library& of, std::uint64_t number, ends& counts) -> task<void> {
    told both;
    co_await await_one(of, number, counts, &both, [&both]() noexcept {
      std::optional<foreign_library::done> mine;
      {
        const std::lock_guard guard(both.lock);
        mine.swap(both.one);
      }
      if (mine) (*mine)(-1);
    });
  }(library, choice, all);
}

task<void> await_many(foreign_library& library, std::uint64_t seed, int count, ends& all) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < count; ++i) {
    const auto how = static_cast<heeds>(random() % 3);
    const std::uint64_t choice = random();
    if (random() % 3 != 0) {
      co_await await_as(how, library, choice, all);
      continue;
    }
    // A stop that comes at any time: before it, while it starts, beside its end.
    auto stopped = tandem::spawn(await_as(how, library, choice, all));
    const std::uint64_t pause = random() % 200;
    for (std::atomic<std::uint64_t> spun{0}; spun.load(std::memory_order_relaxed) < pause; ++spun) {
    }
    stopped.cancel();
    const auto end = co_await tandem::as_result(std::move(stopped));
    if (!end && end.is_cancelled()) ++all.stopped;  // it had not begun
  }
}

TEST(callback_stress, each_await_ends_once) {
  ends all;
  int awaited = 0;
  tandem::test::stress([&](std::mt19937_64& random) {
    tandem::test::test_runtime rt(tandem::test::with_threads(4));
    foreign_library library(random());
    rt.run([](foreign_library& of, std::uint64_t seed, ends& counts) -> task<void> {
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < tasks; ++i) {
          scope.spawn(
              await_many(of, seed + static_cast<std::uint64_t>(i), awaits_a_round / tasks, counts));
        }
        co_await scope.join();
      });
    }(library, random(), all));
    awaited += awaits_a_round;
    EXPECT_EQ(all.called + all.dropped + all.stopped, awaited);
  });
  std::printf("%d awaits: %d called, %d dropped, %d stopped; %llu late calls\n", awaited,
              all.called.load(), all.dropped.load(), all.stopped.load(),
              static_cast<unsigned long long>(tandem::late_callbacks()));
}

}  // namespace
