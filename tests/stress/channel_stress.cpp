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
#include <thread>
#include <utility>
#include <vector>

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

/// Threads of no runtime at both ends, which wait for nothing: they meet between two steps.
TEST(channel, threads_at_both_ends_pass_every_value_once_and_in_order) {
  stress([](std::mt19937_64& random) {
    static constexpr std::size_t capacities[] = {1, 2, 3, 5, 8, 100};
    constexpr int ends = 2;
    constexpr int each = 3000;
    tandem::channel<long> c(capacities[random() % std::size(capacities)]);
    SCOPED_TRACE(testing::Message() << "capacity " << c.capacity());
    std::atomic<long> sum{0};
    std::atomic<int> received{0};
    std::atomic<int> broken{0};
    std::vector<std::thread> all;
    for (long s = 0; s < ends; ++s) {
      all.emplace_back([&c, s] {
        for (long i = 0; i < each; ++i) {
          while (!c.try_send(s * each + i)) std::this_thread::yield();
        }
      });
    }
    for (int r = 0; r < ends; ++r) {
      all.emplace_back([&] {
        long last[ends] = {-1, -1};
        while (true) {
          const bool ended = c.is_closed();
          const auto got = c.try_receive();
          if (c.size() > c.capacity()) ++broken;
          if (!got) {
            if (ended) break;
            std::this_thread::yield();
            continue;
          }
          if (last[*got / each] >= *got) ++broken;
          last[*got / each] = *got;
          sum += *got;
          ++received;
        }
      });
    }
    for (int s = 0; s < ends; ++s) all[static_cast<std::size_t>(s)].join();
    c.close();
    for (std::size_t i = ends; i < all.size(); ++i) all[i].join();
    constexpr long values = ends * each;
    EXPECT_EQ(broken.load(), 0);
    EXPECT_EQ(received.load(), values);
    EXPECT_EQ(sum.load(), values * (values - 1) / 2);
  });
}

/// channels/fill: whoever has the last value may end the channel, though its sender is on its way out.
TEST(channel, may_go_as_soon_as_the_last_value_was_received) {
  struct actor {
    static task<long> take(tandem::channel<long>& from, int n) {
      long sum = 0;
      for (int i = 0; i < n; ++i) sum += *co_await from.receive();
      co_return sum;
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    for (int round = 0; round < 20; ++round) {
      const int n = static_cast<int>(1 + random() % 5);
      auto* c = new tandem::channel<long>(1 + random() % 3);
      std::atomic<bool> begun{false};
      std::thread outside([c, n, &begun] {
        begun = true;
        for (int i = 0; i < n; ++i) {
          while (!c->try_send(1)) std::this_thread::yield();
        }
      });
      if (random() % 2 == 0) {
        while (!begun) std::this_thread::yield();
        spin(random() % 2000);
      }
      EXPECT_EQ(rt.run(actor::take(*c, n)), n);
      delete c;
      outside.join();
    }
  });
}

TEST(channel, a_ready_send_overtakes_no_sender_that_waits) {
  struct state {
    explicit state(std::size_t capacity) : c(capacity) {}
    tandem::channel<int> c;
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> send(state& s, int value) { co_await s.c.send(value); }
    static task<void> receive(state& s, int n) {
      int last = -1;
      for (int i = 0; i < n; ++i) {
        const auto got = co_await s.c.receive();
        if (!got || *got <= last) ++s.broken;
        if (got) last = *got;
        if (i % 3 == 0) co_await tandem::yield();
      }
    }
    /// Sends in this order: each one is ready or waits before the next one begins.
    static task<void> senders(state& s, handles& all, int n) {
      for (int i = 0; i < n; ++i) {
        all.push_back(tandem::spawn(send(s, i)));
        co_await tandem::yield();
      }
    }
  };
  stress([](std::mt19937_64& random) {
    constexpr int n = 300;
    test_runtime rt(
        1);  // so that the order in which tasks begin is the one in which they were made
    state s(1 + random() % 4);
    handles all;
    all.reserve(n);
    auto receiver = rt->spawn(actor::receive(s, n));
    rt.run(actor::senders(s, all, n));
    receiver.wait();
    wait_for_all(all);
    EXPECT_EQ(s.broken.load(), 0);
  });
}

}  // namespace
