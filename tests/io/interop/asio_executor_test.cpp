// asio_executor_test.cpp: executors of tandem as executors of Asio.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>

#include "io/interop/asio_flavour.hpp"
#include "runtime/support/sync_support.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::asio_executor;
using tandem::task;
using tandem::use_await;
using tandem::test::local_pair;
using tandem::test::test_runtime;
namespace ex = net::execution;

using on = asio_executor;
static_assert(ex::is_executor<on>::value);
static_assert(net::can_require<on, ex::blocking_t::never_t>::value);
static_assert(net::can_require<on, ex::blocking_t::possibly_t>::value);
static_assert(!net::can_require<on, ex::blocking_t::always_t>::value);
static_assert(net::can_require<on, ex::relationship_t::fork_t>::value);
static_assert(net::can_require<on, ex::relationship_t::continuation_t>::value);
static_assert(net::can_require<on, ex::outstanding_work_t::tracked_t>::value);
static_assert(net::can_require<on, ex::outstanding_work_t::untracked_t>::value);
static_assert(net::can_require<on, ex::allocator_t<std::allocator<int>>>::value);
static_assert(net::can_require<on, ex::allocator_t<void>>::value);
static_assert(net::can_query<on, ex::context_t>::value);
static_assert(net::can_query<on, ex::blocking_t>::value);
static_assert(net::can_query<on, ex::relationship_t>::value);
static_assert(net::can_query<on, ex::outstanding_work_t>::value);
static_assert(net::can_query<on, ex::allocator_t<void>>::value);
static_assert(std::is_same_v<net::query_result<on, ex::context_t>::type, net::execution_context&>);
static_assert(std::is_convertible_v<on, net::any_io_executor>);
static_assert(std::is_nothrow_copy_constructible_v<on> && std::is_nothrow_move_constructible_v<on>);
static_assert(sizeof(on) <= 2 * sizeof(void*));

TEST(asio_executor, its_properties_are_what_was_asked_for) {
  test_runtime rt;
  const on plain(rt.workers());
  EXPECT_EQ(net::query(plain, ex::blocking), ex::blocking.possibly);
  EXPECT_EQ(net::query(net::require(plain, ex::blocking.never), ex::blocking), ex::blocking.never);
  EXPECT_EQ(net::query(plain, ex::relationship), ex::relationship.fork);
  EXPECT_EQ(net::query(net::require(plain, ex::relationship.continuation), ex::relationship),
            ex::relationship.continuation);
  EXPECT_EQ(net::query(plain, ex::outstanding_work), ex::outstanding_work.untracked);
  EXPECT_EQ(net::query(net::require(plain, ex::outstanding_work.tracked), ex::outstanding_work),
            ex::outstanding_work.tracked);
  EXPECT_TRUE(plain == on(rt.workers()));
  EXPECT_TRUE(plain != net::require(plain, ex::blocking.never));
  EXPECT_TRUE(plain ==
              net::require(net::require(plain, ex::blocking.never), ex::blocking.possibly));
  EXPECT_EQ(&net::query(plain, ex::context), &net::query(net::any_io_executor(plain), ex::context));
  EXPECT_EQ(&plain.target(), &rt.workers());
}

TEST(asio_executor, any_io_executor_holds_it_without_an_allocation) {
#if TANDEM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer has allocations of its own";
#endif
  test_runtime rt;
  tandem::strand turns(rt.workers());
  const on plain(rt.workers());
  const on of_strand(turns);
  (void)net::query(plain, ex::context);  // made once for each runtime
  const long before = tandem::test::news();
  const net::any_io_executor any(plain);
  const net::any_io_executor any_strand(of_strand);
  const net::any_io_executor copy(any_strand);
  const auto tracked = net::prefer(any, ex::outstanding_work.tracked);
  EXPECT_EQ(tandem::test::news() - before, 0);
}

/// Posts, defers and dispatches, and waits until all have run at `home`.
void check_runs_at(tandem::executor& home, const net::any_io_executor& any) {
  std::atomic<int> ran = 0;
  const auto one = [&] {
    EXPECT_TRUE(home.is_current());
    ++ran;
  };
  for (int i = 0; i < 100; ++i) {
    net::post(any, one);
    net::defer(any, one);
    net::dispatch(any, one);
    net::post(any, [&, any] {
      bool inside = false;
      net::dispatch(any, [&] { inside = true; });
      EXPECT_TRUE(inside) << "dispatch goes on in place";
      net::post(any, one);
      ++ran;
    });
  }
  while (ran != 500) std::this_thread::yield();
}

TEST(asio_executor, functions_run_on_workers_completion_threads_and_strands) {
  test_runtime rt;
  auto& pool = tandem::io::install(*rt);
  check_runs_at(rt.workers(), on(rt.workers()));
  check_runs_at(pool.thread(0).executor(), on(pool.thread(0).executor()));
  tandem::strand turns(rt.workers());
  check_runs_at(turns.executor(), on(turns));
}

TEST(asio_executor, a_strand_is_kept_by_it_and_runs_one_at_a_time) {
  test_runtime rt;
  std::optional<net::any_io_executor> any(on(tandem::strand(rt.workers())));
  int count = 0;  // by the strand, so that ThreadSanitizer sees who else does
  std::atomic<int> left = 1000;
  for (int i = 0; i < 1000; ++i) {
    net::post(*any, [&] {
      ++count;
      --left;
    });
  }
  any.reset();
  while (left != 0) std::this_thread::yield();
  EXPECT_EQ(count, 1000);
}

TEST(asio_executor, asios_strand_over_it_runs_one_at_a_time) {
  test_runtime rt;
  const auto turns = net::make_strand(on(rt.workers()));
  int count = 0;
  std::atomic<int> left = 1000;
  for (int i = 0; i < 1000; ++i) {
    net::post(turns, [&] {
      EXPECT_TRUE(turns.running_in_this_thread());
      ++count;
      --left;
    });
  }
  while (left != 0) std::this_thread::yield();
  EXPECT_EQ(count, 1000);
}

TEST(asio_executor, coroutines_timers_and_sockets_of_asios_run_on_it) {
  test_runtime rt;
  auto& pool = tandem::io::install(*rt);
  tandem::strand turns(rt.workers());
  const on places[] = {on(rt.workers()), on(pool.thread(0).executor()), on(turns)};
  for (const auto& place : places) {
    auto body = [](on at) -> net::awaitable<std::size_t> {
      EXPECT_TRUE(at.target().is_current());
      net::steady_timer timer(at, 1ms);
      co_await timer.async_wait(net::use_awaitable);
      EXPECT_TRUE(at.target().is_current());
      local_pair pair(at);
      char bytes[5];
      co_await net::async_write(pair.far, net::buffer("hello", 5), net::use_awaitable);
      const std::size_t n =
          co_await net::async_read(pair.near, net::buffer(bytes), net::use_awaitable);
      EXPECT_TRUE(at.target().is_current());
      co_return n;
    };
    EXPECT_EQ(net::co_spawn(place, body(place), net::use_future).get(), 5u);
    rt.run([](on at) -> task<void> {
      net::steady_timer timer(at, 1ms);
      co_await timer.async_wait(use_await);
      timer.expires_after(1h);
      auto waits = tandem::spawn([](net::steady_timer& never) -> task<void> {
        co_await never.async_wait(use_await);
      }(timer));
      co_await net::post(at, use_await);
      waits.cancel();
      const auto end = co_await tandem::as_result(std::move(waits));
      EXPECT_TRUE(end.is_cancelled());
    }(place));
  }
}

TEST(asio_executor, tracked_work_keeps_the_runtime_from_ending) {
  std::atomic<bool> ended = false;
  std::atomic<bool> ran = false;
  std::optional<net::any_io_executor> work;
  std::thread owner([&] {
    {
      tandem::runtime rt;
      work = net::prefer(net::any_io_executor(on(rt.workers())), ex::outstanding_work.tracked);
      EXPECT_EQ(rt.live_tasks(), 1u);
      auto copy = *work;
      EXPECT_EQ(rt.live_tasks(), 2u);
      auto moved = std::move(copy);
      EXPECT_EQ(rt.live_tasks(), 2u);
      moved = net::require(moved, ex::blocking.never);
      // The last one ends elsewhere, when this waits.
      net::post(on(rt.workers()), [&, mine = std::move(moved)] {
        std::this_thread::sleep_for(20ms);
        EXPECT_FALSE(ended);
        work.reset();
        ran = true;
      });
    }
    ended = true;
  });
  owner.join();
  EXPECT_TRUE(ran);
}

TEST(asio_executor, what_was_posted_runs_before_the_runtime_ends) {
  int ran = 0;
  {
    tandem::runtime rt(tandem::test::with_threads(1));
    for (int i = 0; i < 100; ++i)
      net::post(on(rt.workers()), [&, owned = std::make_unique<int>(i)] { ++ran; });
  }
  EXPECT_EQ(ran, 100);
}

template <class T>
struct counting_allocator {
  using value_type = T;
  explicit counting_allocator(std::atomic<int>& count) : live(&count) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) noexcept : live(other.live) {}
  T* allocate(std::size_t n) {
    ++*live;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* block, std::size_t n) {
    --*live;
    std::allocator<T>().deallocate(block, n);
  }
  friend bool operator==(const counting_allocator&, const counting_allocator&) = default;
  std::atomic<int>* live;
};

TEST(asio_executor, functions_lie_in_the_memory_of_the_allocator_until_they_run) {
  test_runtime rt;
  std::atomic<int> live = 0;
  const auto with = net::require(on(rt.workers()), ex::blocking.never,
                                 ex::allocator(counting_allocator<void>(live)));
  EXPECT_EQ(net::query(with, ex::allocator).live, &live);
  std::atomic<bool> ran = false;
  with.execute([&] {
    EXPECT_EQ(live, 0);  // free again, so that what is posted here gets the same
    ran = true;
  });
  while (!ran) std::this_thread::yield();
  std::atomic<int> seen = 0;
  std::atomic<bool> may = false;
  net::post(on(rt.workers()), [&] {
    with.execute([&] { ran = false; });
    seen = live.load();
    may = true;
  });
  while (!may) std::this_thread::yield();
  EXPECT_GE(seen, 0);
  while (ran) std::this_thread::yield();
  EXPECT_EQ(live, 0);
  const auto without = net::require(with, ex::allocator);
  without.execute([&] { ran = true; });
  EXPECT_EQ(live, 0);
  while (!ran) std::this_thread::yield();
}

TEST(asio_executor, what_a_function_throws_is_told_to_the_runtime) {
  std::atomic<int> told = 0;
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.on_unhandled_exception = [&](std::exception_ptr failed) {
    try {
      std::rethrow_exception(failed);
    } catch (const std::runtime_error& error) {
      if (std::string(error.what()) == "posted") ++told;
    }
  };
  test_runtime rt(std::move(options));
  net::post(on(rt.workers()), [] { throw std::runtime_error("posted"); });
  while (told != 1) std::this_thread::yield();
  std::atomic<bool> ran = false;
  net::post(on(rt.workers()), [&] { ran = true; });
  while (!ran) std::this_thread::yield();
}

}  // namespace
