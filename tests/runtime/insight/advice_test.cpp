// advice_test.cpp: what diagnose() says of locks, channels and queues.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/tandem.hpp>

#include "support/test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::test_runtime;

// Longer than advice takes for "at once".
constexpr auto long_enough = 150ms;

std::string advice_of(const tandem::runtime& rt) {
  std::string all;
  for (const std::string& each : rt.diagnose(long_enough)) all += each + "\n";
  return all;
}

task<void> wait_for(tandem::event& what) { co_await what.wait(); }
task<void> wait_deeper(tandem::event& what) { co_await wait_for(what); }

task<void> hold(tandem::mutex& lock, tandem::event& until) {
  tandem::name("holder");
  const tandem::mutex_guard guard = co_await lock.scoped_lock();
  co_await wait_deeper(until);
}

task<void> want(tandem::mutex& lock) {
  const tandem::mutex_guard guard = co_await lock.scoped_lock();
}

TEST(advice, of_a_lock_says_what_its_holder_waits_for_and_how_deep) {
  test_runtime rt(0U);
  tandem::mutex lock;
  tandem::event over;
  auto holder = rt->spawn(hold(lock, over));
  auto wants = rt->spawn(want(lock));
  auto wants_too = rt->spawn(want(lock));
  (*rt).run_until_idle();
  const std::string all = advice_of(*rt);
  EXPECT_NE(all.find("2 tasks wait for a mutex"), std::string::npos) << all;
  EXPECT_NE(all.find("It is held by task"), std::string::npos) << all;
  EXPECT_NE(all.find("\"holder\""), std::string::npos) << all;
  EXPECT_NE(all.find("which waits for an event"), std::string::npos) << all;
  EXPECT_NE(all.find("3 awaits deep"), std::string::npos) << all;
#if TANDEM_TEST_HAS_NAMES
  EXPECT_NE(all.find("wait_for("), std::string::npos) << all;
#endif
  over.set();
  (*rt).run_until_idle();
}

task<void> produce(tandem::channel<int>& into) {
  for (int i = 0; i < 3; ++i) co_await into.send(int(i));
}

task<void> consume(tandem::channel<int>& from, tandem::event& then) {
  tandem::name("consumer");
  (void)co_await from.receive();
  co_await then.wait();
  (void)co_await from.receive();
  (void)co_await from.receive();
}

TEST(advice, of_a_full_channel_says_what_its_consumer_waits_for) {
  test_runtime rt(0U);
  tandem::channel<int> values(1);
  tandem::event then;
  auto to = rt->spawn(consume(values, then));
  auto from = rt->spawn(produce(values));
  (*rt).run_until_idle();
  const std::string all = advice_of(*rt);
  EXPECT_NE(all.find("1 task waits to send into a channel"), std::string::npos) << all;
  EXPECT_NE(all.find("It was last received from by task"), std::string::npos) << all;
  EXPECT_NE(all.find("\"consumer\""), std::string::npos) << all;
  EXPECT_NE(all.find("which waits for an event"), std::string::npos) << all;
  then.set();
  (*rt).run_until_idle();
}

TEST(advice, of_a_channel_whose_consumer_is_gone_says_that) {
  test_runtime rt(0U);
  tandem::channel<int> values(1);
  const auto once = [](tandem::channel<int>& from) -> task<void> { (void)co_await from.receive(); };
  auto to = rt->spawn(once(values));
  auto from = rt->spawn(produce(values));
  (*rt).run_until_idle();
  const std::string all = advice_of(*rt);
  EXPECT_NE(all.find("which has ended, or has not begun"), std::string::npos) << all;
  const std::string text = rt->dump();
  EXPECT_NE(text.find(", last received from by task"), std::string::npos) << text;
  (void)values.try_receive();
  (*rt).run_until_idle();
}

TEST(advice, of_a_channel_knows_its_consumer_after_the_time_limit_of_its_receive) {
  test_runtime rt(0U);
  tandem::channel<int> values(1);
  tandem::event then;
  const auto limited = [](tandem::channel<int>& from, tandem::event& until) -> task<void> {
    const auto one = [](tandem::channel<int>& c) -> task<void> { (void)co_await c.receive(); };
    co_await tandem::with_timeout(1h, one(from));
    co_await until.wait();
    (void)co_await from.receive();
    (void)co_await from.receive();
  };
  auto to = rt->spawn(limited(values, then));
  auto from = rt->spawn(produce(values));
  (*rt).run_until_idle();
  const std::string all = advice_of(*rt);
  EXPECT_NE(all.find("which waits for an event"), std::string::npos) << all;
  then.set();
  (*rt).run_until_idle();
}

TEST(advice, of_a_lock_knows_its_holder_among_many_alike) {
  test_runtime rt(0U);
  std::vector<tandem::mutex> locks(40);
  tandem::event over;
  std::vector<tandem::join_handle<>> all;
  for (tandem::mutex& each : locks) all.push_back(rt->spawn(hold(each, over)));
  all.push_back(rt->spawn(want(locks[30])));
  (*rt).run_until_idle();
  const std::string said = advice_of(*rt);
  EXPECT_NE(said.find("It is held by task"), std::string::npos) << said;
  EXPECT_NE(said.find("which waits for an event"), std::string::npos) << said;
  over.set();
  (*rt).run_until_idle();
}

TEST(advice, an_empty_channel_says_in_a_dump_who_has_sent_last) {
  test_runtime rt(0U);
  tandem::channel<int> values(1);
  tandem::event then;
  const auto drain = [](tandem::channel<int>& from) -> task<void> {
    while (co_await from.receive()) {}
  };
  const auto sends = [](tandem::channel<int>& into, tandem::event& until) -> task<void> {
    tandem::name("producer");
    co_await into.send(1);
    co_await until.wait();
    into.close();
  };
  auto to = rt->spawn(drain(values));
  auto from = rt->spawn(sends(values, then));
  (*rt).run_until_idle();
  const std::string text = rt->dump();
  EXPECT_NE(text.find("that is empty (0 of 1), last sent to by task"), std::string::npos) << text;
  EXPECT_NE(text.find("\"producer\""), std::string::npos) << text;
  then.set();
  (*rt).run_until_idle();
}

/// The only worker is in here until it is let go.
class occupied {
 public:
  explicit occupied(test_runtime& rt) : task_(rt->spawn(stay(inside_, over_.get_future()))) {
    inside_.get_future().wait();
  }
  occupied(const occupied&) = delete;
  occupied& operator=(const occupied&) = delete;
  ~occupied() {
    over_.set_value();
    task_.wait();
  }

 private:
  static task<void> stay(std::promise<void>& inside, std::future<void> over) {
    inside.set_value();
    over.wait();
    co_return;
  }
  std::promise<void> inside_;
  std::promise<void> over_;
  tandem::join_handle<> task_;
};

TEST(advice, tasks_that_came_from_outside_and_have_not_begun_are_in_a_dump) {
  test_runtime rt(1U);
  tandem::event ready;
  tandem::join_handle<> first;
  tandem::join_handle<> second;
  {
    const occupied here(rt);
    first = rt->spawn(wait_for(ready));
    second = rt->spawn(wait_deeper(ready));
    tandem::dump_options options;
    options.group = false;
    const std::string text = rt->dump(options);
    EXPECT_NE(text.find("3 tasks live: 0 wait, 1 run, 2 are ready"), std::string::npos) << text;
    EXPECT_EQ(text.find("have not begun: they are queued"), std::string::npos) << text;
    std::size_t queued = 0;
    for (std::size_t at = text.find("has not begun: it is queued"); at != std::string::npos;
         at = text.find("has not begun: it is queued", at + 1)) {
      ++queued;
    }
    EXPECT_EQ(queued, 2U) << text;
  }
  ready.set();
  first.wait();
  second.wait();
}

TEST(advice, whoever_joins_a_task_that_has_not_begun_says_where_that_was_spawned) {
  test_runtime rt(2U);
  tandem::strand busy(rt.workers());
  std::promise<void> inside;
  std::promise<void> over;
  const auto stay = [](std::promise<void>& there, std::promise<void>& end) -> task<void> {
    there.set_value();
    end.get_future().wait();
    co_return;
  };
  const auto nothing = []() -> task<void> { co_return; };
  const auto joins = [](tandem::join_handle<> awaited) -> task<void> {
    co_await std::move(awaited);
  };
  auto stays = rt->spawn(busy, stay(inside, over));
  inside.get_future().wait();
  auto joining = rt->spawn(joins(rt->spawn(busy, nothing())));
  std::string text;
  for (int i = 0; i < 1000 && text.find("1 wait, 1 run") == std::string::npos; ++i) {
    std::this_thread::sleep_for(1ms);
    text = rt->dump();
  }
  EXPECT_NE(text.find("waits for the end of a task that has not begun, spawned at"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("advice_test.cpp:"), std::string::npos) << text;
  over.set_value();
  stays.wait();
  joining.wait();
}

}  // namespace
