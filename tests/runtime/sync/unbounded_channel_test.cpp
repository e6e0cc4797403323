// unbounded_channel_test.cpp: sends never wait, the order stays, and a long queue is told of.
// SPDX-License-Identifier: MIT
#include <tandem/unbounded_channel.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tandem/dump.hpp>
#include <utility>
#include <vector>

#include "runtime/sync/virtual_support.hpp"

namespace {

using tandem::as_result;
using tandem::channel_closed;
using tandem::task;
using tandem::task_scope;
using tandem::unbounded_channel;
using tandem::with_scope;
using tandem::test::settle;
using tandem::test::test_runtime;
using boxed = std::unique_ptr<int>;

task<void> receive_one(unbounded_channel<boxed>& from, std::string& log) {
  const auto got = co_await as_result(from.receive());
  if (!got) {
    log += 'c';
  } else if (auto& value = got.value()) {
    log += static_cast<char>('0' + **value);
  } else {
    log += 'e';
  }
}

TEST(unbounded_channel, keeps_the_order_over_many_blocks) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    unbounded_channel<boxed> c;
    int sent = 0;
    int received = 0;
    for (int more : {5, 1000, 3, 0, 2000, 1}) {
      for (int i = 0; i < more; ++i) c.send(std::make_unique<int>(sent++));
      for (int i = 0; i < more / 2; ++i) EXPECT_EQ(**co_await c.receive(), received++);
      EXPECT_EQ(c.size(), static_cast<std::size_t>(sent - received));
    }
    while (auto got = c.try_receive()) EXPECT_EQ(**got, received++);
    EXPECT_EQ(received, sent);
  }());
}

TEST(unbounded_channel, gives_its_memory_back_when_it_is_drained) {
  unbounded_channel<std::string> c;
  EXPECT_EQ(c.stats().memory_bytes, 0U);
  for (int i = 0; i < 1000; ++i) c.send("text");
  const auto full = c.stats();
  EXPECT_EQ(full.size, 1000U);
  EXPECT_GT(full.memory_bytes, 1000 * sizeof(std::string));
  while (c.try_receive()) {}
  const auto drained = c.stats();
  EXPECT_LE(drained.memory_bytes, 1024U);
  EXPECT_EQ(drained.size, 0U);
  EXPECT_EQ(drained.largest_size, 1000U);
  EXPECT_EQ(drained.received, 1000U);
}

TEST(unbounded_channel, an_empty_one_serves_its_receivers_in_order) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    unbounded_channel<boxed> c;
    std::string log;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 3; ++i) scope.spawn(receive_one(c, log));
      co_await settle();
      for (int i = 1; i <= 3; ++i) {
        c.send(std::make_unique<int>(i));
        EXPECT_EQ(c.size(), 0U);
        co_await settle();
      }
    });
    EXPECT_EQ(log, "123");
  }());
}

TEST(unbounded_channel, a_closed_one_is_drained_and_then_ends) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    unbounded_channel<boxed> c;
    std::string log;
    c.send(std::make_unique<int>(1));
    c.close();
    c.close();
    EXPECT_TRUE(c.is_closed());
    boxed value = std::make_unique<int>(2);
    EXPECT_FALSE(c.try_send(std::move(value)));
    EXPECT_TRUE(value);
    EXPECT_THROW(c.send(std::move(value)), channel_closed);
    EXPECT_TRUE(value);
    co_await receive_one(c, log);
    co_await receive_one(c, log);
    EXPECT_EQ(log, "1e");
    unbounded_channel<boxed> empty;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(receive_one(empty, log));
      scope.spawn(receive_one(empty, log));
      co_await settle();
      empty.close();
    });
    EXPECT_EQ(log, "1eee");
  }());
}

TEST(unbounded_channel, a_receive_that_is_stopped_leaves_the_value_to_the_next) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    unbounded_channel<boxed> c;
    std::string log;
    auto a = tandem::spawn(receive_one(c, log));
    auto b = tandem::spawn(receive_one(c, log));
    co_await settle();
    a.cancel();
    c.send(std::make_unique<int>(7));
    co_await a;
    co_await b;
    EXPECT_TRUE(log == "c7" || log == "7c") << log;
    EXPECT_EQ(c.size(), 0U);
  }());
}

TEST(unbounded_channel, says_once_that_it_is_high_until_it_has_fallen_to_half) {
  std::vector<std::size_t> told;
  unbounded_channel<int> c(4, [&](std::size_t size) { told.push_back(size); });
  const auto take = [&](int n) {
    for (int i = 0; i < n; ++i) (void)c.try_receive();
  };
  for (int i = 0; i < 4; ++i) c.send(i);
  EXPECT_FALSE(c.is_high());
  c.send(4);
  EXPECT_TRUE(c.is_high());
  take(2);  // 3 are left
  c.send(5);
  c.send(6);
  EXPECT_EQ(told, (std::vector<std::size_t>{5})) << "it has not fallen to half";
  take(3);  // 2 are left
  EXPECT_FALSE(c.is_high());
  for (int i = 0; i < 3; ++i) c.send(i);
  EXPECT_EQ(told, (std::vector<std::size_t>{5, 5}));
}

TEST(unbounded_channel, a_producer_that_can_wait_waits_until_it_is_low) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    unbounded_channel<int> c(4);
    co_await c.until_low();
    for (int i = 0; i < 6; ++i) c.send(i);
    std::string log;
    auto stopped = tandem::spawn(tandem::test::note_end(c.until_low(), log));
    auto producer = tandem::spawn(tandem::test::note_end(c.until_low(), log));
    co_await settle();
    stopped.cancel();
    co_await stopped;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await c.receive(), i);
    co_await settle();
    EXPECT_FALSE(producer.is_done());
    EXPECT_EQ(co_await c.receive(), 3);
    co_await producer;
    EXPECT_EQ(log, "cr");
    for (int i = 0; i < 6; ++i) c.send(i);
    auto last = tandem::spawn(tandem::test::note_end(c.until_low(), log));
    co_await settle();
    c.close();
    co_await last;
    EXPECT_EQ(log, "crr");
  }());
}

TEST(unbounded_channel, destroys_what_nobody_received) {
  auto counted = std::make_shared<int>(1);
  {
    unbounded_channel<std::shared_ptr<int>> c;
    for (int i = 0; i < 500; ++i) c.send(counted);
    for (int i = 0; i < 100; ++i) (void)c.try_receive();
    EXPECT_EQ(counted.use_count(), 401);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(unbounded_channel, a_dump_says_who_waits_and_who_has_sent) {
  test_runtime rt(tandem::test::on_virtual_clock());
  unbounded_channel<int> c;
  auto waits = rt->spawn(
      [](unbounded_channel<int>& from) -> task<int> { co_return *co_await from.receive(); }(c));
  rt->run_until_idle();
  const std::string dump = rt->dump();
  EXPECT_NE(dump.find("waits to receive from an unbounded channel"), std::string::npos) << dump;
  EXPECT_NE(dump.find("that is empty"), std::string::npos) << dump;
  c.send(1);
  EXPECT_EQ(waits.wait(), 1);
}

}  // namespace
