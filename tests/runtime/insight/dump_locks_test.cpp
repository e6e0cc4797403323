// dump_locks_test.cpp: a dump says who holds a lock, and how each primitive stands.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <tandem/tandem.hpp>

#include "dump_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::wait_for;

class dump_of_locks : public tandem::test::dump_of_driven {};

TEST_F(dump_of_locks, says_who_holds_a_mutex_and_that_nobody_does_in_a_task) {
  tandem::mutex lock;
  tandem::event go;
  const auto holder = [](tandem::mutex& m, tandem::event& e) -> task<void> {
    tandem::name("holder");
    const tandem::mutex_guard guard = co_await m.scoped_lock();
    co_await e.wait();
  };
  const auto waiter = [](tandem::mutex& m) -> task<void> {
    const tandem::mutex_guard guard = co_await m.scoped_lock();
  };
  auto first = (*rt).spawn(holder(lock, go));
  (*rt).run_until_idle();
  auto second = (*rt).spawn(waiter(lock));
  std::string said = text();
  EXPECT_TRUE(has(said, "waits for a mutex")) << said;
  EXPECT_TRUE(has(said, "held by task")) << said;
  EXPECT_EQ(count(said, "\"holder\""), 2U) << said;  // itself, and as the holder
  go.set();
  (*rt).run_until_idle();
  ASSERT_TRUE(lock.try_lock());
  auto third = (*rt).spawn(waiter(lock));
  said = text();
  EXPECT_TRUE(has(said, "held by somebody outside of any task")) << said;
  lock.unlock();
  (*rt).run_until_idle();
}

TEST_F(dump_of_locks, knows_the_holder_of_a_lock_that_a_part_of_the_task_took) {
  tandem::mutex lock;
  tandem::event go;
  const auto takes = [](tandem::mutex& m) -> task<tandem::mutex_guard> {
    co_return co_await m.scoped_lock();
  };
  const auto holder = [takes](tandem::mutex& m, tandem::event& e) -> task<void> {
    tandem::name("holder");
    const tandem::mutex_guard guard = co_await tandem::with_timeout(1h, takes(m));
    co_await e.wait();  // the part has ended
  };
  const auto waiter = [](tandem::mutex& m) -> task<void> {
    const tandem::mutex_guard guard = co_await m.scoped_lock();
  };
  auto first = (*rt).spawn(holder(lock, go));
  (*rt).run_until_idle();
  auto second = (*rt).spawn(waiter(lock));
  const std::string said = text();
  EXPECT_EQ(count(said, "\"holder\""), 2U) << said;
  go.set();
  (*rt).run_until_idle();
}

TEST_F(dump_of_locks, says_who_got_a_mutex_that_was_handed_over) {
  tandem::mutex lock;
  tandem::event go[3];
  const auto holder = [](tandem::mutex& m, tandem::event& e, const char* name) -> task<void> {
    tandem::name(name);
    const tandem::mutex_guard guard = co_await m.scoped_lock();
    co_await e.wait();
  };
  auto first = (*rt).spawn(holder(lock, go[0], "first"));
  (*rt).run_until_idle();
  auto second = (*rt).spawn(holder(lock, go[1], "second"));
  (*rt).run_until_idle();
  auto third = (*rt).spawn(holder(lock, go[2], "third"));
  (*rt).run_until_idle();
  go[0].set();
  const std::string said = text();
  const std::size_t held = said.find("held by task");
  ASSERT_NE(held, std::string::npos) << said;
  EXPECT_EQ(said.compare(said.find('"', held), 8, "\"second\""), 0) << said;
  go[1].set();
  go[2].set();
  (*rt).run_until_idle();
}

TEST_F(dump_of_locks, knows_each_primitive) {
  tandem::semaphore permits(1);
  tandem::latch door(3);
  tandem::channel<int> full(1);
  tandem::channel<int> empty(4);
  tandem::event never;
  std::vector<tandem::join_handle<>> all;
  const auto acquire = [](tandem::semaphore& s) -> task<void> { co_await s.acquire(2); };
  const auto arrive = [](tandem::latch& l) -> task<void> { co_await l.wait(); };
  const auto send = [](tandem::channel<int>& c) -> task<void> {
    co_await c.send(1);
    co_await c.send(2);
  };
  const auto receive = [](tandem::channel<int>& c) -> task<void> { (void)co_await c.receive(); };
  const auto sleep = []() -> task<void> { co_await tandem::sleep_for(1h); };
  all.push_back((*rt).spawn(acquire(permits)));
  all.push_back((*rt).spawn(arrive(door)));
  all.push_back((*rt).spawn(send(full)));
  all.push_back((*rt).spawn(receive(empty)));
  all.push_back((*rt).spawn(sleep()));
  auto joined = (*rt).spawn(wait_for(never));
  const auto join = [](tandem::join_handle<> of) -> task<void> { co_await std::move(of); };
  all.push_back((*rt).spawn(join(std::move(joined))));
  const std::string said = text();
  EXPECT_TRUE(has(said, "a semaphore")) << said;
  EXPECT_TRUE(has(said, "for 2 of its permits, of which 1 are free")) << said;
  EXPECT_TRUE(has(said, "a latch or wait_group")) << said;
  EXPECT_TRUE(has(said, "that is at 3")) << said;
  EXPECT_TRUE(has(said, "waits to send into a channel")) << said;
  EXPECT_TRUE(has(said, "that is full (1 of 1)")) << said;
  EXPECT_TRUE(has(said, "waits to receive from a channel")) << said;
  EXPECT_TRUE(has(said, "that is empty (0 of 4)")) << said;
  EXPECT_TRUE(has(said, "sleeps, 60 min more")) << said;
  EXPECT_TRUE(has(said, "waits for the end of a task: task")) << said;
  EXPECT_TRUE(has(said, "1 timer is armed")) << said;
  for (tandem::join_handle<>& each : all) each.cancel();
  never.set();
  (*rt).run_until_idle();
}

}  // namespace
