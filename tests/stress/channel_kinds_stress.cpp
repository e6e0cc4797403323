// channel_kinds_stress.cpp: oneshots and unbounded channels whose ends go, and tasks are stopped.
// SPDX-License-Identifier: MIT
//
// The laws: what was sent is received once, or is still its sender's, or went with its receiver;
// every await ends. A lost wake-up is a hang, which the watchdog reports.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <tandem/oneshot.hpp>
#include <tandem/unbounded_channel.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "sync_actors.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::as_result;
using tandem::errc;
using tandem::oneshot;
using tandem::oneshot_receiver;
using tandem::oneshot_sender;
using tandem::task;
using tandem::unbounded_channel;
using tandem::test::dice;
using tandem::test::handles;
using tandem::test::perhaps_limited;
using tandem::test::some_threads;
using tandem::test::spin;
using tandem::test::stop_some;
using tandem::test::stress;
using tandem::test::test_runtime;
using tandem::test::wait_for_all;

/// Counts those that there are.
class parcel {
 public:
  explicit parcel(int of_sender = 0, int nth = 0) noexcept : sender(of_sender), number(nth) {
    ++alive;
  }
  parcel(const parcel&) = delete;
  parcel& operator=(const parcel&) = delete;
  ~parcel() { --alive; }
  int sender;
  int number;
  inline static std::atomic<long> alive{0};
};
using boxed = std::unique_ptr<parcel>;

/// Of many oneshots.
struct tally {
  std::atomic<long> sent{0};
  std::atomic<long> refused{0};
  std::atomic<long> unsent{0};
  std::atomic<long> received{0};
  std::atomic<long> went_along{0};  // with a receiver that was stopped, or that closed
  std::atomic<long> broken{0};
};

struct oneshot_actor {
  static task<void> send(oneshot_sender<boxed> to, tally& all, std::uint64_t seed) {
    dice random(seed);
    if (random(4) == 0) co_await tandem::yield();
    if (random(8) == 0) {  // until nobody needs it, or for some time
      (void)co_await as_result(tandem::with_timeout(std::chrono::microseconds(30), to.closed()));
    }
    if (random(8) == 0) {
      ++all.unsent;
      co_return;
    }
    boxed value = std::make_unique<parcel>();
    const bool was_sent = to.send(std::move(value));
    ++(was_sent ? all.sent : all.refused);
    if (was_sent != (value == nullptr)) ++all.broken;
    if (!was_sent && !to.is_closed()) ++all.broken;
  }
  static task<void> take(oneshot_receiver<boxed>& from, tandem::result<boxed>& into) {
    into = co_await as_result(from.receive());
    if (into.is_cancelled()) throw tandem::operation_cancelled(*into.reason());
  }
  static task<void> receive(oneshot_receiver<boxed> from, tally& all, std::uint64_t seed) {
    dice random(seed);
    if (random(8) == 0) co_return;
    tandem::result<boxed> got = make_error_code(errc::channel_closed);
    bool ended = co_await perhaps_limited(take(from, got), random);
    if (!ended && random(2) == 0) {  // it may be received again
      ended = co_await perhaps_limited(take(from, got), random);
    }
    if (!ended) from.close();
    if (!ended) {
      // What came before the close is still there.
      auto late = from.try_receive();
      if (!late) {
        ++all.broken;
        co_return;
      }
      got = std::move(*late);
    }
    if (got.has_value()) {
      ++all.received;
    } else if (got.error() != errc::sender_dropped && got.error() != errc::channel_closed) {
      ++all.broken;
    }
  }
};

TEST(oneshot, each_value_is_received_once_or_refused_or_goes_with_its_receiver) {
  stress([](std::mt19937_64& random) {
    {
      test_runtime rt(some_threads(random));
      tally all;
      handles senders;
      handles receivers;
      constexpr int pairs = 300;
      for (int i = 0; i < pairs; ++i) {
        auto [sender, receiver] = oneshot<boxed>();
        senders.push_back(rt->spawn(oneshot_actor::send(std::move(sender), all, random())));
        receivers.push_back(rt->spawn(oneshot_actor::receive(std::move(receiver), all, random())));
      }
      stop_some(senders, random);
      stop_some(receivers, random);
      wait_for_all(senders);
      senders.clear();  // one that was stopped before it began has its sender still
      wait_for_all(receivers);
      EXPECT_EQ(all.broken.load(), 0);
      EXPECT_LE(all.received.load(), all.sent.load());
      EXPECT_LE(all.sent + all.refused + all.unsent, pairs);
    }
    EXPECT_EQ(parcel::alive.load(), 0);
  });
}

/// Both ends go at the same moment, on two threads: exactly one of them frees the block.
TEST(oneshot, ends_that_go_at_the_same_time_free_the_block_once) {
  stress([](std::mt19937_64& random) {
    for (int round = 0; round < 300; ++round) {
      auto ends = std::make_unique<oneshot<boxed>>();
      oneshot_receiver<boxed> receiver = std::move(ends->receiver);
      std::atomic<bool> goes{false};
      std::atomic<int> came{0};
      std::thread other([&goes, &came, to = std::move(ends->sender), sends = random() % 2 == 0,
                         pause = random() % 200]() mutable {
        while (!goes) std::this_thread::yield();
        spin(pause);
        if (sends) {
          boxed value = std::make_unique<parcel>();
          came = to.send(std::move(value)) ? 1 : -1;
        }
      });
      goes = true;
      spin(random() % 200);
      if (random() % 2 == 0) receiver.close();
      const bool had_one = [&] {
        auto got = receiver.try_receive();
        return got && got->has_value();
      }();
      receiver = {};
      other.join();
      if (had_one) {
        EXPECT_EQ(came, 1);
      }
    }
    EXPECT_EQ(parcel::alive.load(), 0);
  });
}

TEST(unbounded_channel, every_value_is_received_once_and_in_its_senders_order) {
  constexpr int senders = 4;
  constexpr int values = 300;
  struct state {
    explicit state(std::size_t watermark) : c(watermark, [this](std::size_t) { ++told; }) {}
    unbounded_channel<boxed> c;
    std::atomic<std::uint8_t> received[senders][values] = {};
    std::atomic<int> sent[senders] = {};
    std::atomic<long> told{0};
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> produce(state& s, int sender, std::uint64_t seed) {
      dice random(seed);
      for (int i = 0; i < values; ++i) {
        if (random(16) == 0) co_await perhaps_limited(low(s), random);
        if (random(16) == 0) co_await tandem::yield();
        s.c.send(std::make_unique<parcel>(sender, i));
        s.sent[sender] = i + 1;
      }
    }
    static task<void> low(state& s) { co_await s.c.until_low(); }
    static task<void> receive(state& s, int (&last)[senders], bool& open) {
      auto got = co_await s.c.receive();
      open = got.has_value();
      if (!open) co_return;
      ++s.received[(*got)->sender][(*got)->number];
      if (last[(*got)->sender] >= (*got)->number) ++s.broken;
      last[(*got)->sender] = (*got)->number;
    }
    static task<void> consume(state& s, std::uint64_t seed, bool patient) {
      dice random(seed);
      int last[senders];
      for (int& each : last) each = -1;
      bool open = true;
      for (int i = 0; open && (patient || i < 200); ++i) {
        if (patient) {
          co_await receive(s, last, open);
        } else {
          co_await perhaps_limited(receive(s, last, open), random);
        }
      }
    }
  };
  stress([](std::mt19937_64& random) {
    {
      test_runtime rt(some_threads(random));
      state s(random() % 50);
      handles producers;
      handles consumers;
      handles last_consumer;  // never stopped, so that everything ends
      for (int i = 0; i < senders; ++i)
        producers.push_back(rt->spawn(actor::produce(s, i, random())));
      for (int i = 0; i < 3; ++i)
        consumers.push_back(rt->spawn(actor::consume(s, random(), false)));
      last_consumer.push_back(rt->spawn(actor::consume(s, random(), true)));
      stop_some(producers, random);
      stop_some(consumers, random);
      wait_for_all(producers);
      s.c.close();
      wait_for_all(consumers);
      wait_for_all(last_consumer);
      EXPECT_EQ(s.broken.load(), 0);
      EXPECT_EQ(s.c.size(), 0U);
      EXPECT_FALSE(s.c.is_high());
      for (int i = 0; i < senders; ++i) {
        for (int k = 0; k < values; ++k)
          ASSERT_EQ(s.received[i][k], k < s.sent[i] ? 1 : 0) << i << ' ' << k;
      }
    }
    EXPECT_EQ(parcel::alive.load(), 0);
  });
}

/// Whoever has the last value may end the channel, though its sender is on its way out.
TEST(unbounded_channel, may_go_as_soon_as_the_last_value_was_received) {
  struct actor {
    static task<long> take(unbounded_channel<long>& from, int n) {
      long sum = 0;
      for (int i = 0; i < n; ++i) sum += *co_await from.receive();
      co_return sum;
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    for (int round = 0; round < 20; ++round) {
      const int n = static_cast<int>(1 + random() % 5);
      auto* c = new unbounded_channel<long>;
      std::thread outside([c, n] {
        for (int i = 0; i < n; ++i) c->send(1);
      });
      EXPECT_EQ(rt.run(actor::take(*c, n)), n);
      delete c;
      outside.join();
    }
  });
}

}  // namespace
