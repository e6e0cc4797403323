// select_channels_stress.cpp: selects over all kinds of channels, with stops and limits at any time.
// SPDX-License-Identifier: MIT
//
// The laws: each value of an unbounded channel or a oneshot has one receiver; a receiver of a
// broadcast has each value, or knows how many it has missed; a reader of a watch sees versions that
// grow, and the last one. A lost wake-up is a hang, which the watchdog reports.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/branch_if.hpp>
#include <tandem/broadcast.hpp>
#include <tandem/oneshot.hpp>
#include <tandem/run.hpp>
#include <tandem/select.hpp>
#include <tandem/selector.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/unbounded_channel.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/watch.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "sync_actors.hpp"
#include "test_runtime.hpp"

namespace {

using std::chrono::microseconds;
using tandem::as_result;
using tandem::select;
using tandem::selector;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::with_timeout;
using tandem::test::dice;
using tandem::test::stress;
using tandem::test::test_runtime;

using parcel = std::unique_ptr<std::uint32_t>;

/// What is asked, and where the answer goes.
struct question {
  question(std::uint32_t of, tandem::oneshot_sender<parcel>&& to) noexcept
      : number(of), answer(std::move(to)) {}
  std::uint32_t number;
  tandem::oneshot_sender<parcel> answer;
};

struct office {
  explicit office(std::uint32_t questions) : asked(questions), answered(questions) {}

  tandem::unbounded_channel<question> left{16};
  tandem::unbounded_channel<question> right{16};
  tandem::broadcast<std::uint32_t> news{32};
  tandem::watch<std::uint32_t> level{0U};
  std::vector<std::atomic<std::uint8_t>> asked;     // how often a question was received
  std::vector<std::atomic<std::uint8_t>> answered;  // how often its answer was
  std::atomic<std::uint32_t> next{0};
  std::atomic<std::uint32_t> sent{0};
  std::atomic<std::uint32_t> refused{0};  // answers that nobody waited for any more
};

/// Asks until all numbers were used, and waits for each answer: for some time, or until it comes.
task<void> ask(office& at, std::uint64_t seed) {
  dice random(seed);
  while (true) {
    const std::uint32_t number = at.next.fetch_add(1, std::memory_order_relaxed);
    if (number >= at.asked.size()) co_return;
    auto& to = random(2) == 0 ? at.left : at.right;
    if (random(4) == 0) {  // not when it is long, or for some time only
      (void)co_await select(to.until_low(), tandem::sleep_for(microseconds(random(50))));
    }
    auto [sender, receiver] = tandem::oneshot<parcel>();
    to.send(question(number, std::move(sender)));
    std::optional<parcel> got;
    if (random(3) == 0) {
      auto hit = co_await select(receiver.receive(), tandem::sleep_for(microseconds(random(120))));
      if (hit.index() == 0) got = std::move(hit).get<0>();
    } else {
      got = co_await receiver.receive();
    }
    if (!got) {
      // Either the answer is there all the same, or it will be refused.
      receiver.close();
      auto late = receiver.try_receive();
      EXPECT_TRUE(late.has_value());
      if (late && late->has_value()) got = std::move(*late).value();
    }
    if (!got) continue;
    EXPECT_EQ(**got, number);
    at.answered[number].fetch_add(1, std::memory_order_relaxed);
  }
}

void answer(office& at, question what) {
  at.asked[what.number].fetch_add(1, std::memory_order_relaxed);
  parcel made = std::make_unique<std::uint32_t>(what.number);
  const bool was_sent = what.answer.send(std::move(made));
  EXPECT_EQ(was_sent, made == nullptr);
  (was_sent ? at.sent : at.refused).fetch_add(1, std::memory_order_relaxed);
}

/// Answers by a selector over both channels, which now and then is made anew, until they are closed.
task<void> answer_all(office& at, std::uint64_t seed) {
  dice random(seed);
  const auto some = [](office& from, dice& coins) -> task<bool> {
    selector next(from.left.receive(), from.right.receive());
    for (std::uint64_t rest = 1 + coins(100); rest > 0; --rest) {
      auto hit = co_await next.next();
      std::optional<question> got =
          hit.index() == 0 ? std::move(hit).get<0>() : std::move(hit).get<1>();
      if (!got) co_return false;
      answer(from, *std::move(got));
      if (coins(8) == 0) co_await tandem::yield();
    }
    co_return true;
  };
  while (true) {
    if (random(3) == 0) {
      auto ended = co_await as_result(with_timeout(microseconds(random(200)), some(at, random)));
      if (ended.has_value() && !ended.value()) break;
    } else {
      if (!co_await some(at, random)) break;
    }
  }
  // Each channel by itself, as far as it is not drained.
  for (auto* each : {&at.left, &at.right}) {
    while (auto got = co_await each->receive()) answer(at, *std::move(got));
  }
}

/// Follows the news and the level in one select, until both have ended.
task<void> follow(office& at, tandem::broadcast_receiver<std::uint32_t> feed, std::uint64_t seed,
                  std::uint32_t messages) {
  dice random(seed);
  auto reader = at.level.subscribe();
  std::uint64_t seen = 0;
  std::uint32_t latest = 0;
  bool news_ended = false;
  bool level_ended = false;
  const auto one = [&](microseconds span) -> task<void> {
    auto hit =
        co_await select(tandem::branch_if(!news_ended, feed.receive()),
                        tandem::branch_if(!level_ended, reader.next()), tandem::sleep_for(span));
    if (hit.index() == 0) {
      auto& item = hit.get<0>();
      if (item.missed() != 0) {
        seen += item.missed();
      } else if (item) {
        EXPECT_EQ(*item, seen++);
      } else {
        news_ended = true;
      }
    } else if (hit.index() == 1) {
      if (const auto& value = hit.get<1>()) {
        EXPECT_GE(*value, latest);
        latest = *value;
      } else {
        level_ended = true;
      }
    }
  };
  while (!news_ended || !level_ended) {
    const microseconds span(1 + random(100));
    if (random(4) == 0) {
      (void)co_await as_result(with_timeout(microseconds(random(60)), one(span)));
    } else {
      co_await one(span);
    }
  }
  EXPECT_EQ(seen, messages);
  EXPECT_EQ(latest, messages);
}

task<void> tell(office& at, std::uint64_t seed, std::uint32_t messages) {
  dice random(seed);
  for (std::uint32_t i = 0; i < messages; ++i) {
    at.news.send(i);
    EXPECT_TRUE(at.level.set(i + 1));
    if (random(6) == 0) co_await tandem::yield();
    if (random(40) == 0) co_await tandem::sleep_for(microseconds(random(40)));
  }
  at.news.close();
  at.level.close();
}

task<void> exchange(std::uint32_t questions, std::uint64_t seed) {
  office at(questions);
  const std::uint32_t messages = questions / 4;
  co_await with_scope([&](task_scope& others) -> task<void> {
    others.spawn(answer_all(at, seed * 13 + 1));
    others.spawn(answer_all(at, seed * 13 + 2));
    others.spawn(follow(at, at.news.subscribe(), seed * 13 + 3, messages));
    others.spawn(follow(at, at.news.subscribe(), seed * 13 + 4, messages));
    others.spawn(tell(at, seed * 13 + 5, messages));
    co_await with_scope([&](task_scope& askers) -> task<void> {
      for (std::uint64_t i = 0; i < 6; ++i) askers.spawn(ask(at, seed * 13 + 6 + i));
      co_return;
    });
    at.left.close();
    at.right.close();
  });
  std::uint32_t answered = 0;
  for (std::uint32_t i = 0; i < questions; ++i) {
    EXPECT_EQ(at.asked[i].load(), 1) << i;
    EXPECT_LE(at.answered[i].load(), 1) << i;
    answered += at.answered[i].load();
  }
  EXPECT_EQ(at.sent + at.refused, questions);
  EXPECT_EQ(answered, at.sent.load());
}

TEST(select_channels, each_question_and_answer_is_received_once_whatever_stops) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(4);
    rt.run(exchange(8'000, random()));
  });
}

/// One value at a time, of any kind, from another thread, just as the task begins to wait: so a
/// wake-up that is lost is one for ever.
class single_values {
 public:
  single_values() : feed_(news_.subscribe()), reader_(level_.subscribe()) { (void)reader_.get(); }

  template <bool KeepsArmed>
  task<void> take(std::uint32_t count) {
    if constexpr (KeepsArmed) {
      selector next(queue_.receive(), feed_.receive(), reader_.next());
      while (taken_ < count) note(co_await next.next());
    } else {
      while (taken_ < count) {
        note(co_await select(queue_.receive(), feed_.receive(), reader_.next()));
      }
    }
  }
  /// By the other thread.
  void give(std::uint32_t count, std::uint64_t seed) {
    dice random(seed);
    for (std::uint32_t i = 0; i < count; ++i) {
      for (int turns = 0; taken_.load(std::memory_order_acquire) < i; ++turns) {
        if (turns > 2000) std::this_thread::yield();
      }
      tandem::test::spin(random(300));
      switch (random(3)) {
        case 0: queue_.send(i); break;
        case 1: news_.send(i); break;
        default: (void)level_.set(i); break;
      }
    }
  }

 private:
  template <class Hit>
  void note(Hit hit) {
    const std::uint32_t wanted = taken_.load(std::memory_order_relaxed);
    hit.visit([&](std::optional<std::uint32_t> got) { EXPECT_EQ(got, wanted); },
              [&](const tandem::broadcast_item<std::uint32_t>& got) { EXPECT_EQ(*got, wanted); },
              [&](std::optional<std::uint32_t> got) { EXPECT_EQ(got, wanted); });
    taken_.store(wanted + 1, std::memory_order_release);
  }

  tandem::unbounded_channel<std::uint32_t> queue_;
  tandem::broadcast<std::uint32_t> news_{1};
  tandem::watch<std::uint32_t> level_{0U};
  tandem::broadcast_receiver<std::uint32_t> feed_;
  tandem::watch_reader<std::uint32_t> reader_;
  std::atomic<std::uint32_t> taken_{0};
};

TEST(select_channels, a_single_value_wakes_whatever_the_task_is_about_to_do) {
  stress([](std::mt19937_64& random) {
    constexpr std::uint32_t values = 20'000;
    test_runtime rt(1);
    single_values at;
    const std::uint64_t seed = random();
    std::thread other([&] { at.give(values, seed); });
    rt.run(seed % 2 == 0 ? at.take<true>(values) : at.take<false>(values));
    other.join();
  });
}

TEST(select_channels, the_same_under_many_schedules) {
  std::mt19937_64 random(tandem::test::stress_seed());
  const int runs = tandem::test::is_nightly() ? 1000 : 40;
  for (int i = 0; i < runs && !::testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = random();
    SCOPED_TRACE(seed);
    tandem::runtime_options options;
    options.clock = tandem::virtual_time(seed, 1 + static_cast<unsigned>(seed % 4));
    tandem::run(exchange(800, seed), std::move(options));
  }
}

}  // namespace
