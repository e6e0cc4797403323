// mutex_test.cpp: one holder at a time, in order, whoever is stopped meanwhile.
// SPDX-License-Identifier: MIT
#include <tandem/mutex.hpp>

#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::mutex;
using tandem::mutex_guard;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::settle;
using tandem::test::test_runtime;

/// Locks, notes its letter, unlocks; a capital letter if it was stopped.
task<void> visit(mutex& m, std::string& log, char letter) {
  try {
    const auto guard = co_await m.scoped_lock();
    log += letter;
    co_await tandem::yield();
  } catch (const tandem::operation_cancelled&) {
    log += static_cast<char>(letter - 'a' + 'A');
  }
}

TEST(mutex, is_free_held_and_free_again) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    mutex m;
    co_await m.lock();
    EXPECT_FALSE(m.try_lock());
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
    {
      auto guard = co_await m.scoped_lock();
      EXPECT_TRUE(guard);
      mutex_guard moved = std::move(guard);
      EXPECT_FALSE(m.try_lock());
      moved.unlock();
      moved.unlock();
      EXPECT_TRUE(m.try_lock());
      moved = mutex_guard(m);
    }
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  }());
}

TEST(mutex, goes_to_waiters_in_their_order) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    mutex m;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      auto guard = co_await m.scoped_lock();
      for (char c = 'a'; c <= 'h'; ++c) scope.spawn(visit(m, letters, c));
      co_await settle();
      guard.unlock();
      EXPECT_FALSE(m.try_lock());  // it is the oldest waiter's already
    });
  }(log));
  EXPECT_EQ(log, "abcdefgh");
}

TEST(mutex, a_cancelled_waiter_leaves_no_hole) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    mutex m;
    auto guard = co_await m.scoped_lock();
    auto a = tandem::spawn(visit(m, letters, 'a'));
    auto b = tandem::spawn(visit(m, letters, 'b'));
    auto c = tandem::spawn(visit(m, letters, 'c'));
    co_await settle();
    b.cancel();
    co_await b;
    EXPECT_EQ(letters, "B");
    guard.unlock();
    co_await a;
    co_await c;
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  }(log));
  EXPECT_EQ(log, "Bac");
}

TEST(mutex, the_last_waiter_that_is_cancelled_leaves_a_mutex_without_waiters) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    mutex m;
    std::string log;
    auto guard = co_await m.scoped_lock();
    auto a = tandem::spawn(visit(m, log, 'a'));
    co_await settle();
    a.cancel();
    guard.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
    co_await a;
    EXPECT_EQ(log, "A");
  }());
}

TEST(mutex, one_that_was_granted_before_the_stop_has_it) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    mutex m;
    std::string log;
    auto guard = co_await m.scoped_lock();
    auto a = tandem::spawn([](mutex& of, std::string& letters) -> task<void> {
      co_await of.lock();
      letters += 'a';
      of.unlock();
    }(m, log));
    co_await settle();
    guard.unlock();
    a.cancel();
    co_await a;
    EXPECT_EQ(log, "a");
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  }());
}

TEST(mutex, a_stopped_task_takes_a_free_mutex_and_is_refused_a_held_one) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    mutex held;
    mutex free;
    std::string log;
    auto guard = co_await held.scoped_lock();
    auto a = tandem::spawn([](mutex& h, mutex& f, std::string& letters) -> task<void> {
      co_await visit(h, letters, 'a');
      {
        const auto own = co_await f.scoped_lock();
        letters += 'f';
      }
      co_await visit(h, letters, 'b');
    }(held, free, log));
    co_await settle();
    a.cancel();
    co_await a;
    EXPECT_EQ(log, "AfB");
  }());
}

TEST(mutex, a_timeout_ends_the_wait) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    mutex m;
    const auto guard = co_await m.scoped_lock();
    const auto got = co_await tandem::as_result(tandem::with_timeout(
        1ms, [](mutex& of) -> task<void> { const auto own = co_await of.scoped_lock(); }(m)));
    EXPECT_TRUE(got.is_cancelled());
  }());
}

TEST(mutex, an_exception_unlocks_by_way_of_the_guard) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    mutex m;
    const auto got = co_await tandem::as_result([](mutex& of) -> task<void> {
      const auto guard = co_await of.scoped_lock();
      throw std::runtime_error("inside");
    }(m));
    EXPECT_FALSE(got.has_value());
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  }());
}

TEST(mutex, eight_tasks_exclude_each_other_over_suspensions) {
  test_runtime rt;
  long counter = 0;
  rt.run([](long& plain) -> task<void> {
    mutex m;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 8; ++i) {
        scope.spawn([](mutex& of, long& value) -> task<void> {
          for (int k = 0; k < 2000; ++k) {
            const auto guard = co_await of.scoped_lock();
            const long seen = value;
            if (k % 16 == 0) co_await tandem::yield();
            value = seen + 1;
          }
        }(m, plain));
      }
      co_return;
    });
  }(counter));
  EXPECT_EQ(counter, 16000);
}

TEST(mutex, locks_do_not_allocate) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    mutex m;
    long before = 0;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 4; ++i) {
        scope.spawn([](mutex& of) -> task<void> {
          for (int k = 0; k < 100; ++k) {
            const auto guard = co_await of.scoped_lock();
            co_await tandem::yield();
          }
        }(m));
      }
      co_await settle();
      before = tandem::test::news();
      co_await scope.join();
      EXPECT_EQ(tandem::test::news(), before);
    });
  }());
}

TEST(mutex_death, unlocking_a_free_mutex_is_refused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        mutex m;
        m.unlock();
      },
      "nobody holds");
}

// Found by review: a loop of ready awaits never heard of its stop.
TEST(mutex, a_loop_of_free_locks_hears_of_a_stop) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tandem::mutex m;
    long rounds = 0;
    auto handle = tandem::spawn([](tandem::mutex& free, long& count) -> task<void> {
      for (; count < 100'000'000; ++count) auto guard = co_await free.scoped_lock();
    }(m, rounds));
    co_await tandem::sleep_for(1ms);
    (void)handle.cancel();
    EXPECT_TRUE((co_await tandem::as_result(handle)).is_cancelled());
    EXPECT_LT(rounds, 100'000'000);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  }());
}

static_assert(!std::is_constructible_v<std::lock_guard<tandem::mutex>, tandem::mutex&>);
static_assert(!std::is_constructible_v<std::unique_lock<tandem::mutex>, tandem::mutex&>);

}  // namespace
