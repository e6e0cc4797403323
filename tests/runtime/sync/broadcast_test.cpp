// broadcast_test.cpp: every receiver sees every value, or hears how many it has missed.
// SPDX-License-Identifier: MIT
#include <tandem/broadcast.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/sync/virtual_support.hpp"

namespace {

using tandem::as_result;
using tandem::broadcast;
using tandem::broadcast_receiver;
using tandem::channel_closed;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::settle;
using tandem::test::test_runtime;

/// Notes digits; mN: missed N; e: the end; c: stopped.
task<void> listen(broadcast_receiver<int>& from, std::string& log) {
  while (true) {
    auto got = co_await as_result(from.receive());
    if (!got) {
      log += 'c';
      co_return;
    }
    auto& item = got.value();
    if (!item) {
      log += 'e';
      co_return;
    }
    if (item.missed() != 0) {
      log += 'm';
      log += std::to_string(item.missed());
    } else {
      log += static_cast<char>('0' + *item);
    }
  }
}

TEST(broadcast, every_receiver_sees_every_value_sent_after_it_subscribed) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    broadcast<int> b(4);
    EXPECT_EQ(b.capacity(), 4U);
    std::string early_log;
    std::string late_log;
    auto early = b.subscribe();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(listen(early, early_log));
      b.send(1);
      auto late = b.subscribe();
      EXPECT_EQ(b.receivers(), 2U);
      auto second = tandem::spawn(listen(late, late_log));
      for (int i = 2; i <= 5; ++i) {
        co_await settle();
        b.send(i);
      }
      b.close();
      co_await second;
    });
    EXPECT_EQ(early_log, "12345e");
    EXPECT_EQ(late_log, "2345e");
    EXPECT_EQ(b.receivers(), 1U);
    EXPECT_EQ(b.sent(), 5U);
  }());
}

TEST(broadcast, the_slow_miss_values_and_hear_how_many) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    for (const int capacity : {1, 2, 3, 4}) {
      broadcast<int> b(static_cast<std::size_t>(capacity));
      auto slow = b.subscribe();
      for (int i = 0; i < 9; ++i) b.send(i);
      EXPECT_EQ(slow.behind(), 9U);
      b.close();
      std::string log;
      co_await listen(slow, log);
      std::string wanted = "m" + std::to_string(9 - capacity);
      for (int i = 9 - capacity; i < 9; ++i) wanted += static_cast<char>('0' + i);
      EXPECT_EQ(log, wanted + "e");
      EXPECT_EQ(slow.behind(), 0U);
    }
  }());
}

TEST(broadcast, as_many_as_it_holds_are_not_missed) {
  broadcast<int> b(3);
  auto receiver = b.subscribe();
  EXPECT_FALSE(receiver.try_receive());
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3; ++i) b.send(i);
    for (int i = 0; i < 3; ++i) {
      auto got = receiver.try_receive();
      EXPECT_EQ(**got, i);
      EXPECT_EQ(got->missed(), 0U);
    }
    EXPECT_FALSE(receiver.try_receive());
  }
  b.close();
  EXPECT_FALSE(*receiver.try_receive()) << "the end";
}

TEST(broadcast, a_closed_one_refuses_values_and_leaves_them_untouched) {
  broadcast<std::shared_ptr<int>> b(2);
  b.close();
  b.close();
  EXPECT_TRUE(b.is_closed());
  auto value = std::make_shared<int>(1);
  EXPECT_FALSE(b.try_send(std::move(value)));
  EXPECT_TRUE(value);
  EXPECT_THROW(b.send(std::move(value)), channel_closed);
  EXPECT_TRUE(value);
}

TEST(broadcast, a_receive_that_is_stopped_takes_nothing) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    broadcast<int> b(4);
    auto receiver = b.subscribe();
    std::string log;
    auto stopped = tandem::spawn(listen(receiver, log));
    co_await settle();
    EXPECT_EQ(b.waiting(), 1U);
    stopped.cancel();
    co_await stopped;
    EXPECT_EQ(log, "c");
    EXPECT_EQ(b.waiting(), 0U);
    b.send(7);
    EXPECT_EQ(*co_await receiver.receive(), 7);
  }());
}

TEST(broadcast, receivers_come_and_go_at_any_time) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    broadcast<int> b(2);
    std::vector<broadcast_receiver<int>> all;
    for (int i = 0; i < 6; ++i) {
      all.push_back(b.subscribe());
      b.send(i);
      if (i % 2 == 1) all.erase(all.begin());
    }
    EXPECT_EQ(b.receivers(), all.size());
    EXPECT_EQ(*co_await all.back().receive(), 5);
    EXPECT_EQ((co_await all.front().receive()).missed(), 1U);
    all.clear();
    EXPECT_EQ(b.receivers(), 0U);
    b.send(1);
  }());
}

TEST(broadcast, values_stay_until_others_take_their_places) {
  auto counted = std::make_shared<int>(1);
  {
    broadcast<std::shared_ptr<int>> b(2);
    for (int i = 0; i < 5; ++i) b.send(counted);
    EXPECT_EQ(counted.use_count(), 3);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

/// Refuses to be copied when it is told to.
struct sulky {
  explicit sulky(int* refusals) : left(refusals) {}
  sulky(const sulky& other) : left(other.left) {
    if ((*left)-- > 0) throw std::runtime_error("no copies today");
  }
  sulky(sulky&&) noexcept = default;
  int* left;
};

TEST(broadcast, a_value_whose_copy_throws_may_be_received_again) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    int refusals = 1;
    broadcast<sulky> b(2);
    auto receiver = b.subscribe();
    b.send(sulky(&refusals));
    EXPECT_FALSE((co_await as_result(receiver.receive())).has_value());
    EXPECT_TRUE((co_await receiver.receive()).has_value());
    b.send(sulky(&refusals));  // no reader holds a place any more
    b.send(sulky(&refusals));
  }());
}

TEST(broadcast, a_dump_says_who_waits_and_who_has_sent) {
  test_runtime rt(tandem::test::on_virtual_clock());
  broadcast<int> b(2);
  std::string log;
  {
    auto receiver = b.subscribe();
    auto waits = rt->spawn(listen(receiver, log));
    rt->run_until_idle();
    const std::string dump = rt->dump();
    EXPECT_NE(dump.find("waits to receive from a broadcast"), std::string::npos) << dump;
    EXPECT_NE(dump.find("to which 0 were sent so far"), std::string::npos) << dump;
    b.close();
    waits.wait();
  }
  EXPECT_EQ(log, "e");
}

}  // namespace
