// semaphore_test.cpp: permits are conserved, and requests are served in their order.
// SPDX-License-Identifier: MIT
#include <tandem/semaphore.hpp>

#include <tandem/latch.hpp>

#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::semaphore;
using tandem::semaphore_permit;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::settle;
using tandem::test::test_runtime;

/// Acquires and notes its letter; a capital letter if it was stopped. Keeps the permits.
task<void> take(semaphore& s, std::size_t permits, std::string& log, char letter) {
  try {
    co_await s.acquire(permits);
    log += letter;
  } catch (const tandem::operation_cancelled&) {
    log += static_cast<char>(letter - 'a' + 'A');
  }
}

TEST(semaphore, hands_out_what_it_has) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    semaphore s(3);
    co_await s.acquire();
    co_await s.acquire(2);
    EXPECT_EQ(s.available(), 0U);
    EXPECT_FALSE(s.try_acquire());
    EXPECT_TRUE(s.try_acquire(0));
    s.release(3);
    EXPECT_FALSE(s.try_acquire(4));
    EXPECT_FALSE(s.try_acquire(semaphore::max + 1));
    EXPECT_TRUE(s.try_acquire(3));
    s.release(5);
    EXPECT_EQ(s.available(), 5U);
  }());
}

TEST(semaphore, a_permit_gives_back_once) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    semaphore s(4);
    {
      auto permit = co_await s.scoped(3);
      EXPECT_EQ(permit.count(), 3U);
      semaphore_permit moved = std::move(permit);
      EXPECT_EQ(s.available(), 1U);
      moved.release();
      moved.release();
      EXPECT_EQ(s.available(), 4U);
      moved = co_await s.scoped();
    }
    EXPECT_EQ(s.available(), 4U);
  }());
}

TEST(semaphore, a_later_small_request_never_overtakes_a_large_one) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    semaphore s(0);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(take(s, 3, letters, 'a'));
      scope.spawn(take(s, 1, letters, 'b'));
      scope.spawn(take(s, 2, letters, 'c'));
      co_await settle();
      s.release(2);
      EXPECT_FALSE(s.try_acquire());
      co_await settle();
      EXPECT_EQ(letters, "");
      EXPECT_EQ(s.available(), 2U);
      s.release(2);
      co_await settle();
      EXPECT_EQ(letters, "ab");
      s.release(5);
      co_await settle();
      EXPECT_EQ(letters, "abc");
      EXPECT_EQ(s.available(), 3U);
    });
  }(log));
}

TEST(semaphore, a_large_request_that_is_cancelled_lets_smaller_ones_go) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    semaphore s(2);
    std::string log;
    auto large = tandem::spawn(take(s, 5, log, 'a'));
    co_await settle();
    auto small = tandem::spawn(take(s, 1, log, 'b'));
    auto smaller = tandem::spawn(take(s, 1, log, 'c'));
    co_await settle();
    EXPECT_EQ(log, "");
    large.cancel();
    co_await large;
    co_await small;
    co_await smaller;
    EXPECT_TRUE(log == "Abc" || log == "Acb") << log;  // both at once
    EXPECT_EQ(s.available(), 0U);
  }());
}

TEST(semaphore, siblings_of_one_environment_that_are_stopped_together_do_not_wake_each_other) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    semaphore s(2);
    tandem::latch begun(4);
    std::string log;
    const auto child = [&](std::size_t permits) -> task<void> {
      begun.count_down();
      co_await take(s, permits, log, 'a');
    };
    auto all = tandem::spawn([](const auto& make) -> task<void> {
      co_await tandem::fork_join(make(5), make(1), make(1), make(7));
    }(child));
    co_await begun.wait();  // goes on when the last one waits
    all.cancel();
    co_await all;
    EXPECT_EQ(log, "AAAA");
    EXPECT_EQ(s.available(), 2U);
  }());
}

TEST(semaphore, one_that_was_granted_before_the_stop_has_its_permits) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    semaphore s(0);
    std::string log;
    auto a = tandem::spawn(take(s, 1, log, 'a'));
    co_await settle();
    s.release();
    a.cancel();
    co_await a;
    EXPECT_EQ(log, "a");
    EXPECT_EQ(s.available(), 0U);
  }());
}

TEST(semaphore, a_stopped_task_gets_what_is_free_but_does_not_wait) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    semaphore empty(0);
    semaphore full(1);
    std::string log;
    auto a = tandem::spawn([](semaphore& e, semaphore& f, std::string& letters) -> task<void> {
      co_await take(e, 1, letters, 'a');
      co_await take(f, 1, letters, 'b');
      co_await take(f, 1, letters, 'c');
    }(empty, full, log));
    co_await settle();
    a.cancel();
    co_await a;
    EXPECT_EQ(log, "AbC");
  }());
}

TEST(semaphore, a_timeout_ends_the_wait_and_an_exception_gives_back) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    semaphore s(1);
    const auto failed = co_await tandem::as_result([](semaphore& of) -> task<void> {
      const auto permit = co_await of.scoped();
      throw std::runtime_error("inside");
    }(s));
    EXPECT_FALSE(failed.has_value());
    EXPECT_EQ(s.available(), 1U);
    const auto late = co_await tandem::as_result(
        tandem::with_timeout(1ms, [](semaphore& of) -> task<void> { co_await of.acquire(2); }(s)));
    EXPECT_TRUE(late.is_cancelled());
    EXPECT_EQ(s.available(), 1U);
  }());
}

TEST(semaphore, eight_tasks_are_never_more_than_the_permits) {
  test_runtime rt;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  semaphore s(3);
  rt.run([](semaphore& of, std::atomic<int>& now, std::atomic<int>& peak) -> task<void> {
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 8; ++i) {
        const auto wanted = static_cast<std::size_t>(1 + i % 3);
        scope.spawn([](semaphore& sem, std::size_t n, std::atomic<int>& in,
                       std::atomic<int>& top) -> task<void> {
          for (int k = 0; k < 1000; ++k) {
            const auto permit = co_await sem.scoped(n);
            const int here = in += static_cast<int>(n);
            int seen = top.load();
            while (seen < here && !top.compare_exchange_weak(seen, here)) {}
            if (k % 8 == 0) co_await tandem::yield();
            in -= static_cast<int>(n);
          }
        }(of, wanted, now, peak));
      }
      co_return;
    });
  }(s, inside, most));
  EXPECT_LE(most.load(), 3);
  EXPECT_EQ(s.available(), 3U);
}

TEST(semaphore, acquires_do_not_allocate) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    semaphore s(2);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 6; ++i) {
        scope.spawn([](semaphore& of) -> task<void> {
          for (int k = 0; k < 100; ++k) {
            const auto permit = co_await of.scoped();
            co_await tandem::yield();
          }
        }(s));
      }
      co_await settle();
      const long before = tandem::test::news();
      co_await scope.join();
      EXPECT_EQ(tandem::test::news(), before);
    });
  }());
}

TEST(semaphore, an_await_that_never_starts_takes_nothing) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    semaphore s(1);
    {
      auto dropped = s.acquire();
      auto dropped_too = s.scoped();
    }
    EXPECT_EQ(s.available(), 1U);
    co_return;
  }());
}

TEST(semaphore_death, too_many_permits_are_refused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH({ semaphore s(semaphore::max + 1); }, "semaphore::max");
  EXPECT_DEATH(
      {
        semaphore s(semaphore::max);
        s.release();
      },
      "semaphore::max");
}

}  // namespace
