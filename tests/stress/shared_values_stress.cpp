// shared_values_stress.cpp: broadcasts and watches whose senders and receivers meet at every point.
// SPDX-License-Identifier: MIT
//
// The laws: a receiver of a broadcast gets each value once, in the one order that all see, or hears
// how many it has missed, and these sums come out even; a reader of a watch sees versions that
// grow, and always the last one; no value is read while it is replaced.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <tandem/broadcast.hpp>
#include <tandem/watch.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "sync_actors.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::broadcast;
using tandem::broadcast_receiver;
using tandem::task;
using tandem::watch;
using tandem::watch_reader;
using tandem::test::dice;
using tandem::test::handles;
using tandem::test::perhaps_limited;
using tandem::test::some_threads;
using tandem::test::spin;
using tandem::test::stop_some;
using tandem::test::stress;
using tandem::test::test_runtime;
using tandem::test::wait_for_all;

/// Many words that say the same: a copy that was torn is seen.
class wide {
 public:
  wide() = default;
  wide(int of_sender, long number) : sender(of_sender) { words.fill(number); }
  bool is_whole() const {
    for (const long each : words) {
      if (each != words[0]) return false;
    }
    return true;
  }
  long number() const { return words[0]; }
  int sender = 0;
  std::array<long, 8> words{};
};

TEST(broadcast, values_come_once_in_order_or_are_counted_as_missed) {
  constexpr int senders = 3;
  constexpr long values = 400;
  struct state {
    explicit state(std::size_t capacity) : b(capacity) {}
    broadcast<wide> b;
    std::atomic<long> broken{0};
    std::atomic<long> missed{0};
  };
  struct seen {
    seen() { last.fill(-1); }
    std::array<long, senders> last;
    std::uint64_t count = 0;
    bool open = true;
  };
  struct actor {
    static task<void> produce(state& s, int sender, std::uint64_t seed) {
      dice random(seed);
      for (long i = 0; i < values; ++i) {
        s.b.send(wide(sender, i));
        if (random(8) == 0) co_await tandem::yield();
        if (random(8) == 0) spin(random(2000));
      }
    }
    static task<void> receive(state& s, broadcast_receiver<wide>& from, seen& before) {
      auto item = co_await from.receive();
      before.open = static_cast<bool>(item);
      if (!before.open) co_return;
      if (item.missed() != 0) {
        before.count += item.missed();
        s.missed += static_cast<long>(item.missed());
        co_return;
      }
      ++before.count;
      long& last = before.last[static_cast<std::size_t>(item->sender)];
      if (!item->is_whole() || item->number() <= last) ++s.broken;
      last = item->number();
    }
    static task<void> consume(state& s, std::uint64_t seed) {
      dice random(seed);
      broadcast_receiver<wide> from = s.b.subscribe();
      std::uint64_t sent = 0;
      std::uint64_t first = 0;
      do {
        sent = s.b.sent();
        first = sent - from.behind();
      } while (sent != s.b.sent());  // of one moment
      seen all;
      while (all.open) {
        co_await perhaps_limited(receive(s, from, all), random);
        if (tandem::stop_requested()) co_return;
        if (random(64) == 0) spin(random(20000));
      }
      if (first + all.count != s.b.sent()) ++s.broken;
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    static constexpr std::size_t capacities[] = {1, 2, 3, 16, 1000};
    state s(capacities[random() % std::size(capacities)]);
    SCOPED_TRACE(testing::Message() << "capacity " << s.b.capacity());
    handles producers;
    handles consumers;
    for (int i = 0; i < 8; ++i) consumers.push_back(rt->spawn(actor::consume(s, random())));
    for (int i = 0; i < senders; ++i)
      producers.push_back(rt->spawn(actor::produce(s, i, random())));
    stop_some(consumers, random);
    wait_for_all(producers);
    s.b.close();
    wait_for_all(consumers);
    EXPECT_EQ(s.broken.load(), 0);
    EXPECT_EQ(s.b.receivers(), 0U);
    EXPECT_EQ(s.b.sent(), static_cast<std::uint64_t>(senders * values));
  });
}

/// No other send, nor a close, makes up for a wake that was lost: that is a hang.
TEST(broadcast, each_value_wakes_whoever_waits_for_it) {
  struct actor {
    static task<void> listen(broadcast_receiver<int> from, std::atomic<int>& received) {
      while (auto item = co_await from.receive()) ++received;
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    broadcast<int> b(4);
    constexpr int listeners = 3;
    std::atomic<int> received{0};
    handles all;
    for (int i = 0; i < listeners; ++i)
      all.push_back(rt->spawn(actor::listen(b.subscribe(), received)));
    for (int i = 1; i <= 200; ++i) {
      b.send(i);
      while (received < listeners * i) std::this_thread::yield();
      spin(random() % 500);
    }
    b.close();
    wait_for_all(all);
  });
}

/// Threads of no runtime, which wait for nothing: they meet between two steps.
TEST(broadcast, threads_never_read_a_value_that_is_being_replaced) {
  stress([](std::mt19937_64& random) {
    broadcast<wide> b(1 + random() % 3);
    constexpr long values = 3000;
    std::atomic<long> broken{0};
    std::vector<std::thread> all;
    for (int r = 0; r < 2; ++r) {
      all.emplace_back([&broken, from = b.subscribe()]() mutable {
        long last = -1;
        std::uint64_t count = 0;
        while (true) {
          auto item = from.try_receive();
          if (!item) {
            std::this_thread::yield();
            continue;
          }
          if (!*item) break;
          count += item->missed();
          if (item->missed() != 0) continue;
          ++count;
          if (!(*item)->is_whole() || (*item)->number() <= last) ++broken;
          last = (*item)->number();
        }
        if (count != values) ++broken;
      });
    }
    for (long i = 0; i < values; ++i) b.send(wide(0, i));
    b.close();
    for (auto& each : all) each.join();
    EXPECT_EQ(broken.load(), 0);
    all.clear();
  });
}

TEST(watch, versions_grow_and_the_last_one_is_seen) {
  constexpr int writers = 2;
  constexpr long versions = 300;
  struct state {
    watch<wide> w;
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> write(state& s, int writer, std::uint64_t seed) {
      dice random(seed);
      for (long i = 1; i <= versions; ++i) {
        s.w.update([&](wide& value) { value = wide(writer, value.number() + 1); });
        if (random(4) == 0) co_await tandem::yield();
        if (random(4) == 0) spin(random(3000));
      }
    }
    static task<void> look(state& s, watch_reader<wide>& reader, long& last, bool& open) {
      auto latest = co_await reader.next();
      open = latest.has_value();
      if (!open) co_return;
      if (!latest->is_whole() || latest->number() <= last) ++s.broken;
      last = latest->number();
    }
    static task<void> follow(state& s, std::uint64_t seed) {
      dice random(seed);
      auto reader = s.w.subscribe();
      long last = -1;
      bool open = true;
      while (open) {
        co_await perhaps_limited(look(s, reader, last, open), random);
        if (tandem::stop_requested()) co_return;
      }
      if (last != s.w.get().number()) ++s.broken;
    }
    static task<void> wait_for_end(state& s) {
      auto reader = s.w.subscribe();
      const auto found = co_await reader.wait_for(
          [](const wide& value) { return value.number() == writers * versions; });
      if (!found) ++s.broken;
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    state s;
    handles all;
    handles followers;
    handles patient;
    for (int i = 0; i < 20; ++i) followers.push_back(rt->spawn(actor::follow(s, random())));
    patient.push_back(rt->spawn(actor::wait_for_end(s)));
    for (int i = 0; i < writers; ++i) all.push_back(rt->spawn(actor::write(s, i, random())));
    stop_some(followers, random);
    wait_for_all(all);
    wait_for_all(patient);
    s.w.close();
    wait_for_all(followers);
    EXPECT_EQ(s.broken.load(), 0);
    EXPECT_EQ(s.w.readers(), 0U);
    EXPECT_EQ(s.w.version(), static_cast<std::uint64_t>(writers * versions) + 1);
  });
}

}  // namespace
