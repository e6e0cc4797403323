// channel_test.cpp: every value arrives once, in order, or is still its sender's.
// SPDX-License-Identifier: MIT
#include <tandem/channel.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/sync/channel_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using tandem::channel;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::boxed;
using tandem::test::receive_one;
using tandem::test::send_one;
using tandem::test::settle;
using tandem::test::test_runtime;

TEST(channel, keeps_order_and_its_bound) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> c(3);
    EXPECT_EQ(c.capacity(), 3U);
    for (int round = 0; round < 5; ++round) {  // the ring wraps around
      for (int i = 0; i < 3; ++i) co_await c.send(i);
      EXPECT_FALSE(c.try_send(3));
      EXPECT_EQ(c.size(), 3U);
      for (int i = 0; i < 2; ++i) EXPECT_EQ(co_await c.receive(), i);
      EXPECT_TRUE(c.try_send(3));
      EXPECT_EQ(c.try_receive(), 2);
      EXPECT_EQ(c.try_receive(), 3);
      EXPECT_EQ(c.try_receive(), std::nullopt);
    }
  }());
}

TEST(channel, a_full_one_holds_up_its_senders_in_order) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<boxed> c(1);
    std::string log;
    std::vector<boxed> values;
    for (int i = 0; i < 4; ++i) values.push_back(std::make_unique<int>(i));
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (boxed& each : values) scope.spawn(send_one(c, each, log));
      co_await settle();
      EXPECT_EQ(log, "s");
      for (int i = 0; i < 4; ++i) {
        const auto got = co_await c.receive();
        EXPECT_EQ(**got, i);
      }
      co_await settle();
      EXPECT_EQ(log, "ssss");
    });
  }());
}

TEST(channel, an_empty_one_serves_its_receivers_in_order) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<boxed> c(2);
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 3; ++i) scope.spawn(receive_one(c, log));
      co_await settle();
      for (int i = 1; i <= 3; ++i) {
        co_await c.send(std::make_unique<int>(i));
        EXPECT_EQ(c.size(), 0U);
        co_await settle();
      }
      EXPECT_EQ(log, "123");
    });
  }());
}

TEST(channel, without_capacity_sender_and_receiver_meet) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<boxed> c(0);
    std::string log;
    boxed one = std::make_unique<int>(1);
    boxed two = std::make_unique<int>(2);
    EXPECT_FALSE(c.try_send(std::move(one)));
    EXPECT_TRUE(one);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(send_one(c, one, log));
      co_await settle();
      EXPECT_EQ(log, "");
      EXPECT_EQ(**co_await c.receive(), 1);
      co_await settle();
      EXPECT_EQ(log, "s");
      scope.spawn(receive_one(c, log));
      co_await settle();
      EXPECT_TRUE(c.try_send(std::move(two)));
      co_await settle();
      EXPECT_EQ(log, "s2");
    });
  }());
}

TEST(channel, copies_values_that_the_caller_keeps) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<std::string> c(1);
    const std::string text = "a text that is too long for the small buffer";
    std::string other = text;
    co_await c.send(text);
    auto full = co_await tandem::as_result(c.receive());
    EXPECT_EQ(full.value(), text);
    EXPECT_TRUE(c.try_send(other));
    auto reader = tandem::spawn([](channel<std::string>& of) -> task<std::string> {
      co_await tandem::yield();
      std::string all = *co_await of.receive();
      all += *co_await of.receive();
      co_return all;
    }(c));
    co_await c.send(other);  // waits
    EXPECT_EQ(other, text);
    EXPECT_EQ(co_await reader, text + text);
  }());
}

TEST(channel, destroys_what_nobody_received) {
  auto counted = std::make_shared<int>(1);
  {
    channel<std::shared_ptr<int>> c(5);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(c.try_send(counted));
    (void)c.try_receive();
    (void)c.try_receive();
    EXPECT_TRUE(c.try_send(counted));
    EXPECT_EQ(counted.use_count(), 5);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(channel, awaits_that_never_start_leave_no_trace) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<boxed> c(1);
    boxed value = std::make_unique<int>(1);
    {
      auto sending = c.send(std::move(value));
      auto receiving = c.receive();
    }
    EXPECT_TRUE(value);
    EXPECT_EQ(c.size(), 0U);
    co_return;
  }());
}

TEST(channel, four_senders_and_four_receivers_pass_every_value_once) {
  for (const std::size_t capacity : {0U, 1U, 7U, 128U}) {
    test_runtime rt;
    std::atomic<long> sum{0};
    std::atomic<int> received{0};
    rt.run([](std::size_t bound, std::atomic<long>& total, std::atomic<int>& count) -> task<void> {
      channel<long> c(bound);
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (int r = 0; r < 4; ++r) {
          scope.spawn(
              [](channel<long>& of, std::atomic<long>& t, std::atomic<int>& n) -> task<void> {
                while (auto got = co_await of.receive()) {
                  t += *got;
                  ++n;
                }
              }(c, total, count));
        }
        co_await with_scope([&](task_scope& senders) -> task<void> {
          for (long s = 0; s < 4; ++s) {
            senders.spawn([](channel<long>& of, long first) -> task<void> {
              for (long i = first; i < 4000; i += 4) co_await of.send(i);
            }(c, s));
          }
          co_return;
        });
        c.close();
      });
    }(capacity, sum, received));
    EXPECT_EQ(received.load(), 4000);
    EXPECT_EQ(sum.load(), 4000L * 3999 / 2);
  }
}

TEST(channel, values_may_come_from_threads_of_no_runtime) {
  test_runtime rt;
  channel<int> c(2);
  std::thread outside([&] {
    for (int i = 0; i < 100; ++i) {
      while (!c.try_send(i)) std::this_thread::yield();
    }
    c.close();
  });
  const int sum = rt.run([](channel<int>& of) -> task<int> {
    int total = 0;
    while (auto got = co_await of.receive()) total += *got;
    co_return total;
  }(c));
  outside.join();
  EXPECT_EQ(sum, 4950);
}

TEST(channel, a_busy_pair_lets_others_run) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> c(1);
    bool done = false;
    auto other = tandem::spawn([](bool& flag) -> task<void> {
      flag = true;
      co_return;
    }(done));
    for (int i = 0; i < 1000 && !done; ++i) {
      co_await c.send(i);
      (void)co_await c.receive();
    }
    EXPECT_TRUE(done);
    co_await other;
  }());
}

TEST(channel, passing_values_does_not_allocate) {
  test_runtime rt(1);
  for (const std::size_t capacity : {0U, 8U}) {
    rt.run([](std::size_t bound) -> task<void> {
      channel<long> c(bound);
      long before = 0;
      auto sender = tandem::spawn([](channel<long>& of) -> task<void> {
        for (long i = 0; i < 1000; ++i) co_await of.send(i);
        of.close();
      }(c));
      while (auto got = co_await c.receive()) {
        if (*got == 50) before = tandem::test::news();
        if (*got == 999) {
          EXPECT_EQ(tandem::test::news(), before);
        }
      }
      co_await sender;
    }(capacity));
  }
}

}  // namespace
