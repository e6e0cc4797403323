// channel_end_test.cpp: closed channels, and senders and receivers that are stopped.
// SPDX-License-Identifier: MIT
#include <tandem/channel.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/sync/channel_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::channel;
using tandem::channel_closed;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::boxed;
using tandem::test::receive_one;
using tandem::test::send_one;
using tandem::test::settle;
using tandem::test::test_runtime;

TEST(channel, a_closed_one_is_drained_and_then_ends) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<int> c(4);
    co_await c.send(1);
    co_await c.send(2);
    c.close();
    c.close();
    EXPECT_TRUE(c.is_closed());
    EXPECT_FALSE(c.try_send(3));
    bool refused = false;
    try {
      co_await c.send(3);
    } catch (const channel_closed&) {
      refused = true;
    }
    EXPECT_TRUE(refused);
    int sum = 0;
    while (auto got = co_await c.receive()) sum += *got;
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(co_await c.receive(), std::nullopt);
  }());
}

TEST(channel, whoever_receives_may_end_it_and_leave_nothing_behind) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::string log;
    channel<boxed> c(2);
    std::vector<boxed> values;
    for (int i = 0; i < 4; ++i) values.push_back(std::make_unique<int>(i));
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (boxed& each : values) scope.spawn(send_one(c, each, log));
      co_await settle();
      c.close();
      int sum = 0;
      EXPECT_EQ(c.drain([&sum](boxed&& each) { sum += *each; }), 2U);
      EXPECT_EQ(sum, 0 + 1);
    });
    EXPECT_EQ(log, "ssxx");
    EXPECT_EQ(values[0], nullptr);
    EXPECT_EQ(*values[3], 3);  // untouched
    EXPECT_EQ(c.drain(), 0U);
  }());
}

TEST(channel, a_drain_that_fails_leaves_what_it_has_not_come_to) {
  channel<int> c(4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(c.try_send(i));
  const auto use = [](int each) {
    if (each == 1) throw std::runtime_error("1");
  };
  EXPECT_THROW((void)c.drain(use), std::runtime_error);
  EXPECT_EQ(c.try_receive(), 2);
  EXPECT_EQ(c.drain(), 1U);
}

TEST(channel, says_how_many_wait) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::string log;
    channel<boxed> c(1);
    std::vector<boxed> values;
    for (int i = 0; i < 3; ++i) values.push_back(std::make_unique<int>(i));
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (boxed& each : values) scope.spawn(send_one(c, each, log));
      co_await settle();
      const tandem::channel_stats full = c.stats();
      EXPECT_EQ(full.size, 1U);
      EXPECT_EQ(full.waiting_senders, 2U);
      EXPECT_EQ(full.waiting_receivers, 0U);
      EXPECT_FALSE(full.is_closed);
      EXPECT_EQ(c.drain(), 3U);  // also what their senders wait with
      scope.spawn(receive_one(c, log));
      co_await settle();
      EXPECT_EQ(c.stats().waiting_senders, 0U);
      EXPECT_EQ(c.stats().waiting_receivers, 1U);
      c.close();
      EXPECT_TRUE(c.stats().is_closed);
    });
    EXPECT_EQ(log, "ssse");
    EXPECT_EQ(c.stats().waiting_receivers, 0U);
  }());
}

TEST(channel, closing_ends_the_waits_and_senders_keep_their_values) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::string log;
    {
      channel<boxed> c(1);
      boxed in = std::make_unique<int>(1);
      boxed waits = std::make_unique<int>(2);
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn(send_one(c, in, log));
        scope.spawn(send_one(c, waits, log));
        co_await settle();
        c.close();
      });
      EXPECT_EQ(log, "sx");
      EXPECT_FALSE(in);
      EXPECT_TRUE(waits);
      EXPECT_EQ(**co_await c.receive(), 1);
    }
    log.clear();
    channel<boxed> c(1);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(receive_one(c, log));
      scope.spawn(receive_one(c, log));
      co_await settle();
      c.close();
    });
    EXPECT_EQ(log, "ee");
  }());
}

TEST(channel, a_cancelled_send_leaves_the_value_with_its_owner_and_no_hole) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<boxed> c(1);
    std::string log;
    std::vector<boxed> values;
    for (int i = 0; i < 3; ++i) values.push_back(std::make_unique<int>(i));
    co_await c.send(std::move(values[0]));
    auto b = tandem::spawn(send_one(c, values[1], log));
    auto d = tandem::spawn(send_one(c, values[2], log));
    co_await settle();
    b.cancel();
    co_await b;
    EXPECT_EQ(log, "c");
    EXPECT_TRUE(values[1]);
    EXPECT_EQ(**co_await c.receive(), 0);
    EXPECT_EQ(**co_await c.receive(), 2);
    co_await d;
    EXPECT_EQ(log, "cs");
  }());
}

TEST(channel, a_cancelled_receive_leaves_the_value_to_the_next) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<boxed> c(1);
    std::string log;
    auto a = tandem::spawn(receive_one(c, log));
    auto b = tandem::spawn(receive_one(c, log));
    co_await settle();
    a.cancel();
    co_await c.send(std::make_unique<int>(7));
    co_await a;
    co_await b;
    EXPECT_TRUE(log == "c7" || log == "7c") << log;
  }());
}

TEST(channel, what_was_handed_over_before_the_stop_arrives) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<boxed> c(0);
    std::string log;
    auto receiver = tandem::spawn(receive_one(c, log));
    co_await settle();
    EXPECT_TRUE(c.try_send(std::make_unique<int>(7)));
    receiver.cancel();
    co_await receiver;
    EXPECT_EQ(log, "7");
    boxed value = std::make_unique<int>(8);
    auto sender = tandem::spawn(send_one(c, value, log));
    co_await settle();
    EXPECT_EQ(**c.try_receive(), 8);
    sender.cancel();
    co_await sender;
    EXPECT_EQ(log, "7s");
  }());
}

TEST(channel, a_stopped_task_sends_and_receives_what_is_ready_but_does_not_wait) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    channel<boxed> c(1);
    std::string log;
    auto stopped = tandem::spawn([](channel<boxed>& of, std::string& letters) -> task<void> {
      boxed one = std::make_unique<int>(1);
      boxed two = std::make_unique<int>(2);
      co_await receive_one(of, letters);
      co_await send_one(of, one, letters);
      co_await send_one(of, two, letters);
      EXPECT_TRUE(two);
      co_await receive_one(of, letters);
      co_await receive_one(of, letters);
    }(c, log));
    co_await settle();
    stopped.cancel();
    co_await stopped;
    EXPECT_EQ(log, "csc1c");
  }());
}

TEST(channel, a_timeout_ends_either_wait) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    channel<int> c(0);
    const auto received = co_await tandem::as_result(tandem::with_timeout(
        1ms, [](channel<int>& of) -> task<void> { (void)co_await of.receive(); }(c)));
    EXPECT_TRUE(received.is_cancelled());
    const auto sent = co_await tandem::as_result(
        tandem::with_timeout(1ms, [](channel<int>& of) -> task<void> { co_await of.send(1); }(c)));
    EXPECT_TRUE(sent.is_cancelled());
    EXPECT_EQ(c.try_receive(), std::nullopt);
  }());
}

}  // namespace
