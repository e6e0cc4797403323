// channel_stress.cpp: channels whose senders and receivers are stopped, and which are closed, at any time.
// SPDX-License-Identifier: MIT
//
// The laws: a value is received once and in its sender's order, or is still its sender's; every
// await ends. A lost wake-up is a hang, which the watchdog reports.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <tandem/channel.hpp>
#include <tandem/yield.hpp>
#include <utility>

#include "seeded.hpp"
#include "sync_actors.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::task;
using tandem::test::dice;
using tandem::test::handles;
using tandem::test::perhaps_limited;
using tandem::test::some_threads;
using tandem::test::spin;
using tandem::test::stop_some;
using tandem::test::stress;
using tandem::test::test_runtime;
using tandem::test::wait_for_all;

/// A value that knows whose it is and the how-manieth.
struct parcel {
  parcel(int s, int n) : sender(s), number(n) {}
  int sender;
  int number;
};
using boxed = std::unique_ptr<parcel>;

TEST(channel, a_value_is_received_once_and_in_order_or_stays_with_its_sender) {
  constexpr int senders = 4;
  constexpr int values = 150;
  struct state {
    explicit state(std::size_t capacity) : c(capacity) {}
    tandem::channel<boxed> c;
    std::atomic<std::uint8_t> sent[senders][values] = {};
    std::atomic<std::uint8_t> received[senders][values] = {};
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> send(state& s, boxed& value) { co_await s.c.send(std::move(value)); }
    static task<void> produce(state& s, int sender, std::uint64_t seed) {
      dice random(seed);
      for (int i = 0; i < values; ++i) {
        boxed value = std::make_unique<parcel>(sender, i);
        bool delivered = false;
        if (random(8) == 0) {
          delivered = s.c.try_send(std::move(value));
        } else {
          delivered = co_await perhaps_limited(send(s, value), random);
        }
        if (delivered != (value == nullptr)) ++s.broken;
        if (delivered) s.sent[sender][i] = 1;
      }
    }
    static task<void> receive(state& s, int (&last)[senders], bool& open) {
      const boxed got = co_await take(s, open);
      if (got == nullptr) co_return;
      ++s.received[got->sender][got->number];
      if (last[got->sender] >= got->number) ++s.broken;  // the order of one sender
      last[got->sender] = got->number;
    }
    static task<boxed> take(state& s, bool& open) {
      auto got = co_await s.c.receive();
      open = got.has_value();
      co_return got ? std::move(*got) : nullptr;
    }
    static task<void> consume(state& s, std::uint64_t seed, bool patient) {
      dice random(seed);
      int last[senders];
      for (int& each : last) each = -1;
      bool open = true;
      for (int i = 0; open && (patient || i < 100); ++i) {
        if (patient) {
          co_await receive(s, last, open);
        } else {
          co_await perhaps_limited(receive(s, last, open), random);
        }
      }
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    static constexpr std::size_t capacities[] = {0, 1, 2, 7, 64};
    state s(capacities[random() % std::size(capacities)]);
    SCOPED_TRACE(testing::Message() << "capacity " << s.c.capacity());
    handles producers;
    handles consumers;
    handles last_consumer;  // never stopped, so that everything ends
    for (int i = 0; i < senders; ++i)
      producers.push_back(rt->spawn(actor::produce(s, i, random())));
    for (int i = 0; i < 3; ++i) consumers.push_back(rt->spawn(actor::consume(s, random(), false)));
    last_consumer.push_back(rt->spawn(actor::consume(s, random(), true)));
    stop_some(producers, random);
    stop_some(consumers, random);
    wait_for_all(producers);
    s.c.close();
    wait_for_all(consumers);
    wait_for_all(last_consumer);
    EXPECT_EQ(s.broken.load(), 0);
    for (int i = 0; i < senders; ++i) {
      for (int k = 0; k < values; ++k) ASSERT_EQ(s.sent[i][k], s.received[i][k]) << i << ' ' << k;
    }
  });
}

TEST(channel, closing_a_channel_meets_sends_and_receives_at_any_point) {
  struct state {
    explicit state(std::size_t capacity) : c(capacity) {}
    tandem::channel<boxed> c;
    std::atomic<long> sent{0};
    std::atomic<long> received{0};
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> produce(state& s, std::uint64_t seed) {
      dice random(seed);
      for (int i = 0; i < 1000; ++i) {
        boxed value = std::make_unique<parcel>(0, i);
        const auto got = co_await tandem::as_result(s.c.send(std::move(value)));
        if (got.has_value() != (value == nullptr)) ++s.broken;
        if (!got.has_value()) break;
        ++s.sent;
        if (random(16) == 0) co_await tandem::yield();
      }
    }
    static task<void> consume(state& s) {
      while (auto got = co_await s.c.receive()) ++s.received;
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    for (int round = 0; round < 10; ++round) {
      state s(random() % 4);
      handles all;
      for (int i = 0; i < 3; ++i) all.push_back(rt->spawn(actor::produce(s, random())));
      for (int i = 0; i < 3; ++i) all.push_back(rt->spawn(actor::consume(s)));
      spin(random() % 100000);
      s.c.close();
      wait_for_all(all);
      EXPECT_EQ(s.broken.load(), 0);
      EXPECT_EQ(s.sent.load(), s.received.load());
    }
  });
}

}  // namespace
