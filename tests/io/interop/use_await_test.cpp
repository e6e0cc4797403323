// use_await_test.cpp: what an await of an operation of Asio gives, where it goes on, and what it costs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>

#include "io/interop/asio_flavour.hpp"
#include "runtime/support/sync_support.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::use_await;
using tandem::test::aborted;
using tandem::test::local_pair;
using tandem::test::net_code;
using tandem::test::operation;
using tandem::test::operation_at;
using tandem::test::running_context;
using tandem::test::std_code;
using tandem::test::test_runtime;

struct no_default {
  explicit no_default(int number) : value(number) {}
  int value;
};

template <class Signature, class... Args>
auto at_once(Args... args) {
  return operation<Signature>([... args = std::move(args)](auto handler) mutable {
    std::move(handler)(std::move(args)...);
  });
}

TEST(use_await, no_value_is_void_one_is_itself_and_several_are_a_tuple) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    static_assert(std::is_void_v<decltype(at_once<void()>())::value_type>);
    static_assert(std::is_void_v<decltype(at_once<void(net_code)>(net_code()))::value_type>);
    co_await at_once<void()>();
    co_await at_once<void(net_code)>(net_code());
    const int one = co_await at_once<void(int)>(3);
    EXPECT_EQ(one, 3);
    const int behind = co_await at_once<void(net_code, int)>(net_code(), 4);
    EXPECT_EQ(behind, 4);
    const std::vector<int> numbers(100, 7);
    std::tuple<int, std::vector<int>> both =
        co_await at_once<void(net_code, int, std::vector<int>)>(net_code(), 5, numbers);
    EXPECT_EQ(both, std::tuple(5, numbers));
    auto [first, second] = co_await at_once<void(int, std::vector<int>)>(6, numbers);
    EXPECT_EQ(first, 6);
    EXPECT_EQ(second, numbers);
  }());
}

TEST(use_await, values_may_be_move_only_and_without_a_default) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    auto owned = co_await at_once<void(net_code, std::unique_ptr<int>)>(net_code(),
                                                                        std::make_unique<int>(7));
    EXPECT_EQ(*owned, 7);
    auto made = co_await at_once<void(net_code, no_default)>(net_code(), no_default(8));
    EXPECT_EQ(made.value, 8);
    auto [left, right] = co_await at_once<void(no_default, std::unique_ptr<int>)>(
        no_default(9), std::make_unique<int>(10));
    EXPECT_EQ(left.value + *right, 19);
  }());
}

TEST(use_await, an_exception_pointer_is_thrown_unless_it_is_null) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const int fine = co_await at_once<void(std::exception_ptr, int)>(std::exception_ptr(), 11);
    EXPECT_EQ(fine, 11);
    auto failed = co_await as_result(at_once<void(std::exception_ptr, int)>(
        std::make_exception_ptr(std::runtime_error("told")), 0));
    EXPECT_FALSE(failed.has_value());
    EXPECT_THROW((void)failed.value(), std::runtime_error);
    EXPECT_THROW(co_await at_once<void(std::exception_ptr)>(
                     std::make_exception_ptr(std::runtime_error("told"))),
                 std::runtime_error);
  }());
}

TEST(use_await, signatures_may_be_qualified) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const int l = co_await at_once<void(int)&>(1);
    const int r = co_await at_once<void(int) &&>(2);
    const int n = co_await at_once<void(int) noexcept>(3);
    const int nl = co_await at_once < void(int) & noexcept > (4);
    const int nr = co_await at_once < void(int) && noexcept > (5);
    EXPECT_EQ((std::array{l, r, n, nl, nr}), (std::array{1, 2, 3, 4, 5}));
  }());
}

TEST(use_await, errors_keep_their_code_and_category) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const net_code reset = net::error::connection_reset;
    auto got = co_await as_result(at_once<void(net_code, int)>(reset, 1));
    EXPECT_FALSE(got.has_value());
    EXPECT_EQ(got.error(), std_code(reset));
    EXPECT_EQ(got.error().category(), std_code(reset).category());
    const net_code end = net::error::eof;
    try {
      co_await at_once<void(net_code)>(end);
      ADD_FAILURE();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std_code(end));
    }
    EXPECT_TRUE((co_await as_result(at_once<void(net_code)>(net_code()))).has_value());
  }());
}

TEST(use_await, adapters_of_tokens_go_around_it) {
  running_context io;
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    net::steady_timer timer(*in, 1h);
    timer.cancel();
    local_pair pair(in->get_executor());
    char byte = 0;
    co_await net::async_write(pair.far, net::buffer("z", 1), use_await);
    auto [code, n] = co_await pair.near.async_read_some(net::buffer(&byte, 1),
                                                        net::experimental::as_tuple(use_await));
    EXPECT_FALSE(code);
    EXPECT_EQ(n, 1u);
    pair.far.close();
    auto [end, none] = co_await pair.near.async_read_some(net::buffer(&byte, 1),
                                                          net::experimental::as_tuple(use_await));
    EXPECT_EQ(end, net::error::eof);
    EXPECT_EQ(none, 0u);
    net_code told;
    local_pair other(in->get_executor());  // Asio may wait for ever for what follows an end
    other.far.close();
    const std::size_t zero = co_await other.near.async_read_some(
        net::buffer(&byte, 1), net::redirect_error(use_await, told));
    EXPECT_EQ(zero, 0u);
    EXPECT_EQ(told, net::error::eof);
    const auto strand = net::make_strand(*in);
    timer.expires_after(1ms);
    co_await timer.async_wait(net::bind_executor(strand, use_await));
  }(io));
}

TEST(use_await, an_abort_that_is_no_stop_is_no_cancellation) {
  test_runtime rt(tandem::test::with_threads(1));  // the timer is no two threads'
  running_context io;
  rt.run([](running_context& in) -> task<void> {
    net::steady_timer timer(*in, 1h);
    auto waits = tandem::spawn([](net::steady_timer& at) -> task<void> {
      auto got = co_await as_result(at.async_wait(use_await));
      EXPECT_EQ(got.error(), aborted());
      EXPECT_EQ(got.reason().value_or(tandem::stop_reason::none), tandem::stop_reason::none);
      try {
        co_await at_once<void(net_code)>(net_code(net::error::operation_aborted));
        ADD_FAILURE();
      } catch (const tandem::operation_cancelled&) {
        ADD_FAILURE();
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), aborted());
      }
    }(timer));
    while (timer.cancel() == 0) co_await net::post(*in, use_await);
    co_await std::move(waits);
  }(io));
}

TEST(use_await, a_task_goes_on_at_its_home) {
  running_context io(2);
  test_runtime rt;
  rt.run([](test_runtime& at, running_context& in) -> task<void> {
    const auto once = [&](tandem::executor& home) -> task<void> {
      co_await tandem::resume_on(home);
      for (int i = 0; i < 50; ++i) {
        net::steady_timer timer(*in, std::chrono::microseconds(i % 3));
        co_await timer.async_wait(use_await);
        EXPECT_TRUE(home.is_current());
        co_await net::post(net::make_strand(*in), use_await);
        EXPECT_TRUE(home.is_current());
      }
    };
    tandem::strand strand(at.workers());
    auto& pool = tandem::io::install(*at);
    co_await once(at.workers());
    co_await once(strand.executor());
    co_await once(pool.thread(0).executor());
  }(rt, io));
}

TEST(use_await, a_virtual_clock_waits_for_the_operation) {
  running_context io;
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  tandem::runtime rt(options);
  auto got = rt.spawn([](running_context& in) -> task<int> {
    co_return co_await tandem::with_timeout(1s, [](running_context& at) -> task<int> {
      net::steady_timer timer(*at, 5ms);  // of the real clock
      co_await timer.async_wait(use_await);
      co_return 3;
    }(in));
  }(io));
  EXPECT_EQ(got.wait(), 3);
}

task<long> news_of(running_context& io) {
  co_return co_await operation_at<void(long)>(io->get_executor(), [&](auto handler) {
    net::post(*io, [handler = std::move(handler)]() mutable {
      std::move(handler)(tandem::test::news());
    });
  });
}

/// Asio keeps memory for handlers in each thread of its contexts; the first ones are not counted.
TEST(use_await, timers_and_sockets_allocate_nothing) {
#if TANDEM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer has allocations of its own";
#elif defined(ASIO_WINDOWS)
  GTEST_SKIP()
      << "Asio asks operator new there for what it asks aligned_alloc for elsewhere, whose "
         "calls nobody counts: for each function that it hands to a context";
#endif
  test_runtime rt(tandem::test::with_threads(1));
  for (const int hint : {-1, 1}) {
    running_context io(1, hint);
    rt.run([](running_context& in) -> task<void> {
      net::steady_timer timer(*in);
      local_pair pair(in->get_executor());
      const auto some = [&](int times) -> task<void> {
        char bytes[8] = {};
        for (int i = 0; i < times; ++i) {
          timer.expires_after(0ms);
          co_await timer.async_wait(use_await);
          co_await net::async_write(pair.far, net::buffer(bytes), use_await);
          co_await net::async_read(pair.near, net::buffer(bytes), use_await);
          (void)co_await pair.near.async_read_some(net::buffer(bytes, 0), use_await);
        }
      };
      co_await some(200);
      const long before = tandem::test::news();
      const long before_there = co_await news_of(in);
      co_await some(1000);
      EXPECT_EQ(tandem::test::news() - before, 0);
      // What asks is counted, too, whose handler is no operation's.
      EXPECT_LE((co_await news_of(in)) - before_there, 1);
    }(io));
  }
}

}  // namespace
