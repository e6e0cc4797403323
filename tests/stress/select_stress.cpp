// select_stress.cpp: selects over channels, locks and timers, with stops and time limits at any time.
// SPDX-License-Identifier: MIT
//
// The laws: what a select took, one receiver has, once; what it did not take is where it was; every
// wait ends. A lost wake-up is a hang, which the watchdog reports.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/mutex.hpp>
#include <tandem/run.hpp>
#include <tandem/select.hpp>
#include <tandem/select_list.hpp>
#include <tandem/selector.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stopped.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "sync_actors.hpp"
#include "test_runtime.hpp"

namespace {

using std::chrono::microseconds;
using tandem::as_result;
using tandem::channel;
using tandem::operation_cancelled;
using tandem::select;
using tandem::selector;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::with_timeout;
using tandem::test::dice;
using tandem::test::stress;
using tandem::test::test_runtime;

constexpr std::size_t channel_count = 8;

/// A number that is moved, and counts as lost if it goes without having been received.
using parcel = std::unique_ptr<std::uint32_t>;

/// Messages between tasks that select. Each has a number, and a mark of who has seen it.
class post_office {
 public:
  explicit post_office(std::uint32_t messages) : seen_(messages) {
    constexpr std::array<std::size_t, channel_count> capacities = {0, 1, 2, 8, 0, 1, 3, 0};
    for (const std::size_t each : capacities)
      all_.push_back(std::make_unique<channel<parcel>>(each));
  }

  channel<parcel>& at(std::size_t i) { return *all_[i]; }
  /// @returns  null when all were handed out
  parcel next() {
    const std::uint32_t number = next_.fetch_add(1, std::memory_order_relaxed);
    return number < seen_.size() ? std::make_unique<std::uint32_t>(number) : nullptr;
  }
  void received(const parcel& what) {
    ASSERT_NE(what, nullptr);
    if (seen_[*what].fetch_add(1, std::memory_order_relaxed) != 0) doubled_.fetch_add(1);
    received_.fetch_add(1, std::memory_order_relaxed);
  }
  void close() {
    for (auto& each : all_) each->close();
  }
  void expect_all() const {
    EXPECT_EQ(doubled_.load(), 0);
    EXPECT_EQ(received_.load(), seen_.size());
    for (const auto& each : all_) EXPECT_EQ(each->size(), 0U);
  }

 private:
  std::vector<std::unique_ptr<channel<parcel>>> all_;
  std::vector<std::atomic<std::uint8_t>> seen_;
  std::atomic<std::uint32_t> next_{0};
  std::atomic<long> doubled_{0};
  std::atomic<std::size_t> received_{0};
};

/// Sends `what` through one of three channels, if no stop or limit is first. @returns if it was sent
task<bool> send_once(post_office& office, parcel& what, dice& random) {
  const std::size_t a = random(channel_count);
  const std::size_t b = (a + 1 + random(3)) % channel_count;
  const std::size_t c = (a + 4 + random(3)) % channel_count;
  switch (random(4)) {
    case 0: {
      co_await office.at(a).send(std::move(what));
      co_return true;
    }
    case 1: {
      const auto span = microseconds(random(100));
      auto hit = co_await select(office.at(a).send(std::move(what)),
                                 office.at(b).send(std::move(what)), tandem::sleep_for(span));
      co_return hit.index() != 2;
    }
    case 2: {
      auto hit = co_await select(office.at(a).send(std::move(what)),
                                 office.at(b).send(std::move(what)), tandem::otherwise);
      if (hit.index() == 2) co_await tandem::yield();
      co_return hit.index() != 2;
    }
    default: {
      auto hit =
          co_await select(office.at(a).send(std::move(what)), office.at(b).send(std::move(what)),
                          office.at(c).send(std::move(what)));
      co_return hit.index() < 3;
    }
  }
}

task<void> produce(post_office& office, std::uint64_t seed) {
  dice random(seed);
  while (parcel what = office.next()) {
    while (true) {
      bool sent = false;
      if (random(5) == 0) {
        const auto limit = microseconds(random(60));
        auto ended = co_await as_result(with_timeout(limit, send_once(office, what, random)));
        sent = ended.has_value() && ended.value();
      } else {
        sent = co_await send_once(office, what, random);
      }
      // What a send has not taken is still here.
      EXPECT_EQ(sent, what == nullptr);
      if (what == nullptr) break;
    }
  }
}

/// Receives by selects until one says that its channel is closed. Everything was sent by then.
task<void> consume_by_select(post_office& office, std::uint64_t seed) {
  dice random(seed);
  while (true) {
    const std::size_t a = random(channel_count);
    const std::size_t b = (a + 1 + random(7)) % channel_count;
    const auto one = [](post_office& from, std::size_t first, std::size_t second,
                        microseconds span) -> task<bool> {
      auto hit = co_await select(from.at(first).receive(), tandem::sleep_for(span),
                                 from.at(second).receive());
      if (hit.index() == 1) co_return true;
      std::optional<parcel> got =
          hit.index() == 0 ? std::move(hit).get<0>() : std::move(hit).get<2>();
      if (!got) co_return false;
      from.received(*got);
      co_return true;
    };
    const auto span = microseconds(random(80));
    if (random(4) == 0) {
      auto ended =
          co_await as_result(with_timeout(microseconds(random(50)), one(office, a, b, span)));
      if (ended.has_value() && !ended.value()) break;
    } else {
      if (!co_await one(office, a, b, span)) break;
    }
  }
}

/// The same by a selector over all of them, which now and then is given up and made anew.
task<void> consume_by_selector(post_office& office, std::uint64_t seed) {
  dice random(seed);
  const auto some = [](post_office& from, dice& coins) -> task<bool> {
    selector next(from.at(0).receive(), from.at(1).receive(), from.at(2).receive(),
                  from.at(3).receive(), from.at(4).receive(), from.at(5).receive(),
                  from.at(6).receive(), from.at(7).receive());
    for (std::uint64_t left = 1 + coins(200); left > 0; --left) {
      auto hit = co_await next.next();
      const auto note = [&](std::optional<parcel> got) {
        if (got) from.received(*got);
        return got.has_value();
      };
      if (!hit.visit(note, note, note, note, note, note, note, note)) co_return false;
      if (coins(8) == 0) co_await tandem::yield();
    }
    co_return true;
  };
  while (true) {
    if (random(3) == 0) {
      auto ended =
          co_await as_result(with_timeout(microseconds(random(200)), some(office, random)));
      if (ended.has_value() && !ended.value()) break;
    } else {
      if (!co_await some(office, random)) break;
    }
  }
}

task<void> consume_by_list(post_office& office, std::uint64_t /*seed*/) {
  tandem::select_list<tandem::receive_awaiter<parcel>> inputs;
  for (std::size_t i = 0; i < channel_count; ++i) inputs.add(office.at(i).receive());
  while (true) {
    auto hit = co_await inputs.next();
    if (!hit.value) break;
    office.received(*hit.value);
  }
}

/// What is left in the channels when all were closed.
task<void> drain(post_office& office) {
  for (std::size_t i = 0; i < channel_count; ++i) {
    while (auto got = co_await office.at(i).receive()) office.received(*got);
  }
}

task<void> exchange(std::uint32_t messages, std::uint64_t seed) {
  post_office office(messages);
  co_await with_scope([&](task_scope& consumers) -> task<void> {
    consumers.spawn(consume_by_select(office, seed * 11 + 1));
    consumers.spawn(consume_by_select(office, seed * 11 + 2));
    consumers.spawn(consume_by_selector(office, seed * 11 + 3));
    consumers.spawn(consume_by_list(office, seed * 11 + 4));
    co_await with_scope([&](task_scope& producers) -> task<void> {
      for (std::uint64_t i = 0; i < 4; ++i) producers.spawn(produce(office, seed * 11 + 5 + i));
      co_return;
    });
    office.close();
  });
  co_await drain(office);
  office.expect_all();
}

TEST(select, no_message_is_lost_or_doubled_whatever_stops) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(4);
    rt.run(exchange(20'000, random()));
  });
}

TEST(select, ten_million_messages_at_night_arrive_once_each) {
  const std::uint32_t messages = tandem::test::is_nightly() ? 10'000'000 : 50'000;
  test_runtime rt(4);
  rt.run(exchange(messages, tandem::test::stress_seed()));
}

TEST(select, no_message_is_lost_or_doubled_under_a_thousand_schedules) {
  // A part of them at each run; all of them at night.
  std::mt19937_64 random(tandem::test::stress_seed());
  const bool nightly = tandem::test::is_nightly();
  const int runs = nightly ? 1000 : 40;
  for (int i = 0; i < runs && !::testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = random();
    SCOPED_TRACE(seed);
    tandem::runtime_options options;
    options.clock = tandem::virtual_time(seed, 1 + static_cast<unsigned>(seed % 4));
    tandem::run(exchange(nightly ? 10'000 : 1'000, seed), std::move(options));
  }
}

TEST(select, locks_and_permits_that_lose_are_nobodys) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(4);
    const std::uint64_t seed = random();
    rt.run([](std::uint64_t from) -> task<void> {
      struct state {
        tandem::mutex lock;
        tandem::semaphore permits{3};
        tandem::event gate;
        std::atomic<int> inside{0};
        std::atomic<int> holding{0};
        long counted = 0;
        std::atomic<long> entered{0};
      } shared;
      const auto actor = [](state& s, std::uint64_t own) -> task<void> {
        dice dies(own);
        for (int i = 0; i < 400; ++i) {
          const std::size_t wanted = 1 + dies(3);
          auto hit = co_await select(s.lock.lock(), s.permits.acquire(wanted),
                                     tandem::sleep_for(microseconds(dies(60))), s.gate.wait());
          if (hit.index() == 0) {
            EXPECT_EQ(s.inside.fetch_add(1), 0);
            ++s.counted;
            s.entered.fetch_add(1);
            if (dies(4) == 0) co_await tandem::yield();
            s.inside.fetch_sub(1);
            s.lock.unlock();
          } else if (hit.index() == 1) {
            EXPECT_LE(s.holding.fetch_add(static_cast<int>(wanted)) + static_cast<int>(wanted), 3);
            if (dies(4) == 0) co_await tandem::yield();
            s.holding.fetch_sub(static_cast<int>(wanted));
            s.permits.release(wanted);
          } else if (hit.index() == 3) {
            s.gate.reset();
          }
          if (dies(50) == 0) s.gate.set();
        }
      };
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (std::uint64_t i = 0; i < 8; ++i) scope.spawn(actor(shared, from + i * 77));
        co_return;
      });
      EXPECT_EQ(shared.counted, shared.entered.load());
      EXPECT_TRUE(shared.lock.try_lock());
      EXPECT_EQ(shared.permits.available(), 3U);
    }(seed));
  });
}

TEST(select, the_end_of_tasks_and_stops_race) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(4);
    const std::uint64_t seed = random();
    rt.run([](std::uint64_t from) -> task<void> {
      dice dies(from);
      for (int i = 0; i < 200; ++i) {
        const auto child = [](std::uint64_t turns) -> task<int> {
          tandem::test::spin(turns);
          co_await tandem::yield();
          co_return 1;
        };
        const auto waiter = [](tandem::join_handle<int>& of, std::uint64_t span) -> task<int> {
          auto hit = co_await select(of, tandem::sleep_for(microseconds(span)), tandem::stopped());
          co_return static_cast<int>(hit.index());
        };
        auto handle = tandem::spawn(child(dies(3000)));
        auto waiting = tandem::spawn(waiter(handle, dies(40)));
        if (dies(2) == 0) {
          tandem::test::spin(dies(3000));
          waiting.cancel();
        }
        const auto ended = co_await as_result(waiting);
        const bool has_joined = ended.has_value() && ended.value() == 0;
        if (!has_joined) {
          EXPECT_EQ(co_await handle, 1);
        }
      }
    }(seed));
  });
}

}  // namespace
