// shared_mutex_test.cpp: readers together, writers alone, in order, whoever is stopped meanwhile.
// SPDX-License-Identifier: MIT
#include <tandem/shared_mutex.hpp>

#include <tandem/event.hpp>
#include <tandem/select.hpp>
#include <tandem/selector.hpp>

#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::event;
using tandem::join_handle;
using tandem::read_guard;
using tandem::shared_mutex;
using tandem::task;
using tandem::write_guard;
using tandem::test::settle;
using tandem::test::test_runtime;

/// Notes a letter when it is in, a capital one if it was stopped; stays until it may leave.
task<void> read(shared_mutex& m, std::string& log, char letter, event& leave) {
  try {
    const auto guard = co_await m.scoped_lock_shared();
    log += letter;
    co_await leave.wait();
  } catch (const tandem::operation_cancelled&) {
    log += static_cast<char>(letter - 'a' + 'A');
  }
}
task<void> write(shared_mutex& m, std::string& log, char letter, event& leave) {
  try {
    const auto guard = co_await m.scoped_lock();
    log += letter;
    co_await leave.wait();
  } catch (const tandem::operation_cancelled&) {
    log += static_cast<char>(letter - 'a' + 'A');
  }
}

TEST(shared_mutex, lets_readers_in_together_and_a_writer_alone) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    shared_mutex m;
    read_guard first = co_await m.scoped_lock_shared();
    read_guard second = co_await m.scoped_lock_shared();
    EXPECT_FALSE(m.try_lock());
    EXPECT_TRUE(m.try_lock_shared());
    m.unlock_shared();
    first.unlock();
    first.unlock();
    EXPECT_FALSE(m.try_lock());
    read_guard moved = std::move(first);
    EXPECT_FALSE(moved);
    second.unlock();
    EXPECT_TRUE(m.try_lock());
    EXPECT_FALSE(m.try_lock_shared());
    EXPECT_FALSE(m.try_lock());
    m.unlock();
    co_await m.lock();
    m.unlock();
    co_await m.lock_shared();
    m.unlock_shared();
  }());
}

TEST(shared_mutex, lets_in_the_oldest_and_readers_up_to_the_next_writer) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    shared_mutex m;
    event writers_leave;
    event readers_leave;
    auto guard = co_await m.scoped_lock_shared();
    std::vector<join_handle<void>> all;
    all.push_back(tandem::spawn(write(m, letters, 'a', writers_leave)));
    co_await settle();
    EXPECT_FALSE(m.try_lock_shared());  // it does not overtake the writer
    for (char c : {'b', 'c'}) all.push_back(tandem::spawn(read(m, letters, c, readers_leave)));
    co_await settle();
    all.push_back(tandem::spawn(write(m, letters, 'd', writers_leave)));
    co_await settle();
    all.push_back(tandem::spawn(read(m, letters, 'e', readers_leave)));
    co_await settle();
    EXPECT_EQ(letters, "");
    guard.unlock();
    co_await settle();
    EXPECT_EQ(letters, "a");
    writers_leave.set();
    co_await settle();
    EXPECT_EQ(letters, "abc");
    readers_leave.set();
    for (auto& each : all) co_await each;
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  }(log));
  EXPECT_EQ(log, "abcde");
}

TEST(shared_mutex, a_stopped_writer_lets_the_readers_behind_it_in) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    shared_mutex m;
    event leave;
    leave.set();
    const auto guard = co_await m.scoped_lock_shared();
    auto a = tandem::spawn(write(m, letters, 'a', leave));
    auto b = tandem::spawn(read(m, letters, 'b', leave));
    auto c = tandem::spawn(read(m, letters, 'c', leave));
    auto d = tandem::spawn(write(m, letters, 'd', leave));
    co_await settle();
    b.cancel();
    co_await b;
    a.cancel();
    co_await a;
    co_await c;
    EXPECT_EQ(letters, "BAc");
    d.cancel();
    co_await d;
    EXPECT_TRUE(m.try_lock_shared());
    m.unlock_shared();
  }(log));
  EXPECT_EQ(log, "BAcD");
}

TEST(shared_mutex, a_writer_that_becomes_a_reader_lets_only_readers_in) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    shared_mutex m;
    event leave;
    write_guard writing = co_await m.scoped_lock();
    auto a = tandem::spawn(read(m, letters, 'a', leave));
    co_await settle();
    auto b = tandem::spawn(write(m, letters, 'b', leave));
    co_await settle();
    read_guard reading = std::move(writing).downgrade();
    co_await settle();
    EXPECT_EQ(letters, "a");
    leave.set();
    co_await a;
    EXPECT_EQ(letters, "a");
    reading.unlock();
    co_await b;
    co_await m.lock();
    m.downgrade();
    EXPECT_TRUE(m.try_lock_shared());
    m.unlock_shared();
    m.unlock_shared();
  }(log));
  EXPECT_EQ(log, "ab");
}

TEST(shared_mutex, reading_and_writing_are_branches_and_what_loses_holds_nothing) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    const auto choose = [](shared_mutex& m, event& other, std::string& out) -> task<void> {
      auto hit = co_await tandem::select(m.scoped_lock_shared(), other.wait());
      out += hit.index() == 0 ? 'r' : 'o';
    };
    shared_mutex m;
    event other;
    co_await choose(m, other, letters);
    EXPECT_TRUE(m.try_lock());
    auto a = tandem::spawn(choose(m, other, letters));
    auto b = tandem::spawn(choose(m, other, letters));
    co_await settle();
    EXPECT_EQ(letters, "r");
    m.downgrade();
    co_await a;
    co_await b;
    EXPECT_EQ(letters, "rrr");
    {
      auto hit = co_await tandem::select(m.scoped_lock(), tandem::otherwise);
      EXPECT_EQ(hit.index(), 1U);
    }
    m.unlock_shared();
    {
      auto hit = co_await tandem::select(m.scoped_lock(), other.wait());
      EXPECT_EQ(hit.index(), 0U);
      auto c = tandem::spawn(choose(m, other, letters));
      co_await settle();
      other.set();
      co_await c;
    }
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  }(log));
  EXPECT_EQ(log, "rrro");
}

/// Waits to write, or for `other`.
task<void> perhaps_write(shared_mutex& m, std::string& log, event& other) {
  auto hit = co_await tandem::select(m.scoped_lock(), other.wait());
  log += hit.index() == 0 ? 'w' : 'o';
}

TEST(shared_mutex, a_select_that_wanted_to_write_lets_the_readers_behind_it_in) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    shared_mutex m;
    event other;
    event leave;
    leave.set();
    const auto guard = co_await m.scoped_lock_shared();
    auto a = tandem::spawn(perhaps_write(m, letters, other));
    co_await settle();
    EXPECT_FALSE(m.try_lock_shared());
    auto b = tandem::spawn(read(m, letters, 'b', leave));
    co_await settle();
    EXPECT_EQ(letters, "");
    other.set();
    co_await a;
    co_await b;
  }(log));
  EXPECT_EQ(log, "ob");
}

TEST(shared_mutex, a_selector_that_is_away_holds_up_nobody_and_keeps_its_place) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    const auto loop = [](shared_mutex& m, event& other, event& again,
                         std::string& out) -> task<void> {
      tandem::selector next(m.lock(), other.wait());
      auto first = co_await next.next();
      EXPECT_EQ(first.index(), 1U);
      other.reset();
      co_await again.wait();
      auto second = co_await next.next();
      EXPECT_EQ(second.index(), 0U);
      out += 'w';
      m.unlock();
    };
    shared_mutex m;
    event other;
    event again;
    event leave;
    leave.set();
    auto guard = co_await m.scoped_lock_shared();
    auto a = tandem::spawn(loop(m, other, again, letters));
    co_await settle();
    other.set();
    co_await settle();  // its branch stands in the list, and cannot be let in
    EXPECT_TRUE(m.try_lock_shared());
    m.unlock_shared();
    co_await read(m, letters, 'b', leave);
    EXPECT_EQ(letters, "b");
    auto c = tandem::spawn(write(m, letters, 'c', leave));
    co_await settle();
    again.set();
    co_await settle();
    EXPECT_EQ(letters, "b");
    guard.unlock();
    co_await a;
    co_await c;
  }(log));
  EXPECT_EQ(log, "bwc");
}

TEST(shared_mutex, says_in_a_dump_who_writes_and_how_many_read) {
  test_runtime rt(1);
  std::string log;
  rt.run([](tandem::runtime& owner, std::string& letters) -> task<void> {
    shared_mutex m;
    event leave;
    leave.set();
    write_guard writing = co_await m.scoped_lock();
    auto a = tandem::spawn(read(m, letters, 'a', leave));
    co_await settle();
    const std::string one = owner.dump();
    EXPECT_NE(one.find("waits to read by a shared_mutex"), std::string::npos) << one;
    EXPECT_NE(one.find("held by task"), std::string::npos) << one;
    const read_guard reading = std::move(writing).downgrade();
    co_await a;
    auto b = tandem::spawn(write(m, letters, 'b', leave));
    co_await settle();
    const std::string other = owner.dump();
    EXPECT_NE(other.find("waits to write by a shared_mutex"), std::string::npos) << other;
    EXPECT_NE(other.find("that 1 task reads"), std::string::npos) << other;
    b.cancel();
    co_await b;
  }(*rt, log));
  EXPECT_EQ(log, "aB");
}

TEST(shared_mutex, allocates_nothing_whether_it_waits_or_not) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    shared_mutex m;
    const auto handover = [](shared_mutex& of) -> task<void> {
      for (int i = 0; i < 10; ++i) {
        co_await of.lock();
        co_await tandem::yield();
        of.unlock();
        co_await of.lock_shared();
        co_await tandem::yield();
        of.unlock_shared();
      }
    };
    co_await tandem::fork_join(handover(m), handover(m));
    const long before = tandem::test::news();
    co_await tandem::fork_join(handover(m), handover(m));
    EXPECT_EQ(tandem::test::news(), before);
  }());
}

}  // namespace
