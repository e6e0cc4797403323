// use_await_executor_test.cpp: where starts, steps and emissions of awaited operations of Asio run, and whose memory they have.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/spawn.hpp>

#include "io/interop/asio_flavour.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::use_await;
using tandem::test::net_code;
using tandem::test::operation;
using tandem::test::operation_at;
using tandem::test::running_context;
using tandem::test::test_runtime;

/// Start, steps and emission of an operation at `at`; `is_there` says whether that is where it runs.
template <class Executor, class Token, class IsThere>
task<void> stay_there(Executor at, Token token, IsThere is_there, std::atomic<bool>& started,
                      int& touched) {
  // Named: g++ 12 destroys a temporary lambda of a co_await expression twice.
  const auto start = [&, is_there](auto handler) {
    EXPECT_TRUE(is_there());
    ++touched;
    using kept = std::decay_t<decltype(handler)>;
    auto held = std::make_shared<std::optional<kept>>(std::move(handler));
    auto own = net::get_associated_executor(**held, at);
    net::get_associated_cancellation_slot(**held).assign(
        [&, is_there, held, own](net::cancellation_type) {
          EXPECT_TRUE(is_there());
          ++touched;
          net::post(own, [&, is_there, held] {
            EXPECT_TRUE(is_there());
            ++touched;
            kept last(std::move(**held));
            std::move(last)(net_code(net::error::operation_aborted));
          });
        });
    net::post(own, [&, is_there] {
      EXPECT_TRUE(is_there());
      ++touched;
      started = true;
    });
  };
  auto got = co_await as_result(operation_at<void(net_code)>(at, start, token));
  constexpr bool tells = requires { token.ec_; } || requires { token.get().ec_; };
  EXPECT_EQ(got.is_cancelled(), !tells);
}

TEST(use_await, a_serial_executor_runs_start_steps_and_emission) {
  running_context io(3);
  running_context single(1, 1);
  test_runtime rt;
  const auto plain = net::make_strand(*io);
  const auto over_any = net::make_strand(net::any_io_executor(io->get_executor()));
  const auto check = [&](auto at, auto token, auto is_there) {
    std::atomic<bool> started = false;
    int touched = 0;  // by the strand, so that ThreadSanitizer sees who else does
    auto stays = rt->spawn(stay_there(at, token, is_there, started, touched));
    while (!started) std::this_thread::yield();
    stays.cancel();
    stays.wait();
    EXPECT_EQ(touched, 4);
  };
  const auto on_plain = [=] { return plain.running_in_this_thread(); };
  const auto on_over_any = [=] { return over_any.running_in_this_thread(); };
  check(plain, use_await, on_plain);
  check(net::any_io_executor(plain), use_await, on_plain);
  check(over_any, use_await, on_over_any);
  check(net::any_io_executor(over_any), use_await, on_over_any);
  check(single->get_executor(), use_await,
        [at = single->get_executor()] { return at.running_in_this_thread(); });
  check(net::any_io_executor(single->get_executor()), use_await,
        [at = single->get_executor()] { return at.running_in_this_thread(); });
  check(io->get_executor(), net::bind_executor(plain, use_await), on_plain);
  check(io->get_executor(), net::bind_executor(net::any_io_executor(over_any), use_await),
        on_over_any);
  net_code code;
  check(io->get_executor(), net::bind_executor(plain, net::redirect_error(use_await, code)),
        on_plain);
  check(io->get_executor(), net::redirect_error(net::bind_executor(plain, use_await), code),
        on_plain);
}

TEST(use_await, steps_of_an_operation_of_a_context_of_many_threads_take_turns) {
  running_context io(4);
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    int count = 0;  // by the turns of the await, so that ThreadSanitizer sees who else does
    std::atomic<int> left = 1000;
    co_await operation_at<void()>(in->get_executor(), [&](auto handler) {
      using kept = std::decay_t<decltype(handler)>;
      auto held = std::make_shared<std::optional<kept>>(std::move(handler));
      const auto own = net::get_associated_executor(**held, in->get_executor());
      for (int i = 0; i < 1000; ++i) {
        const auto step = [&, held] {
          ++count;
          if (--left == 0) std::move (**held)();
        };
        if (i % 2 == 0) {
          net::post(own, step);
        } else {
          net::post(*in, [own, step] { net::dispatch(own, step); });
        }
      }
    });
    EXPECT_EQ(count, 1000);
  }(io));
}

TEST(use_await, a_copy_of_its_executor_runs_what_it_gets_when_the_await_is_over) {
  running_context io(2);
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    std::function<void(std::function<void()>)> late;
    std::function<void(std::function<void()>)> at_once;
    co_await operation_at<void()>(in->get_executor(), [&](auto handler) {
      const auto own = net::get_associated_executor(handler, in->get_executor());
      late = [own](std::function<void()> f) { net::post(own, std::move(f)); };
      at_once = [own](std::function<void()> f) { net::dispatch(own, std::move(f)); };
      net::post(own, std::move(handler));
    });
    std::atomic<int> ran = 0;
    for (int i = 0; i < 100; ++i) {
      late([&] { ++ran; });
      at_once([&] { ++ran; });
    }
    late = nullptr;
    at_once = nullptr;
    while (ran != 200) co_await net::post(*in, use_await);
  }(io));
}

TEST(use_await, steps_may_be_posted_through_its_executor_however_that_is_held) {
  running_context io(2);
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    co_await operation_at<void()>(in->get_executor(), [&](auto handler) {
      const auto own = net::get_associated_executor(handler, in->get_executor());
      net::post(own, std::move(handler));
    });
    co_await operation_at<void()>(in->get_executor(), [&](auto handler) {
      const net::any_io_executor own(net::get_associated_executor(handler, in->get_executor()));
      net::post(own, std::move(handler));
    });
    const net::any_io_executor any(in->get_executor());
    co_await operation_at<void()>(any, [&](auto handler) {
      const net::any_io_executor own(net::get_associated_executor(handler, any));
      net::dispatch(own, std::move(handler));
    });
  }(io));
}

TEST(use_await, several_branches_may_give_their_memory_back_late) {
  running_context io(2);
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    for (int i = 0; i < tandem::test::rounds(500); ++i) {
      net::steady_timer one(*in, 0ms);
      net::steady_timer other(*in, 10us);
      auto [order, first, second] =
          co_await net::experimental::make_parallel_group(
              [&](auto token) { return one.async_wait(std::move(token)); },
              [&](auto token) { return other.async_wait(std::move(token)); })
              .async_wait(net::experimental::wait_for_all(), use_await);
      EXPECT_EQ(order[0] + order[1], 1u);
      EXPECT_FALSE(first);
      EXPECT_FALSE(second);
    }
  }(io));
}

/// Its memory goes back when the await is long over.
TEST(use_await, memory_of_the_handler_may_be_given_back_when_the_await_is_over) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::shared_ptr<int> kept;
    co_await [](std::shared_ptr<int>& to) -> task<void> {
      co_await operation<void()>([&](auto handler) {
        to = std::allocate_shared<int>(
            net::get_associated_allocator(handler, std::allocator<void>()), 5);
        std::move(handler)();
      });
    }(kept);
    EXPECT_EQ(*kept, 5);
    kept.reset();
  }());
}

TEST(use_await, spawned_coroutines_of_asios_give_values_exceptions_and_ends) {
  running_context io(2);
  test_runtime rt;
  std::atomic<bool> started = false;
  rt.run([](running_context& in, std::atomic<bool>& has_started) -> task<void> {
    const int value =
        co_await net::co_spawn(*in, []() -> net::awaitable<int> { co_return 4; }, use_await);
    EXPECT_EQ(value, 4);
    co_await net::co_spawn(*in, []() -> net::awaitable<void> { co_return; }, use_await);
    auto failed = co_await as_result(net::co_spawn(
        *in,
        []() -> net::awaitable<int> {
          throw std::runtime_error("legacy");
          co_return 1;
        },
        use_await));
    EXPECT_THROW((void)failed.value(), std::runtime_error);
    auto waits = tandem::spawn([](net::io_context& at, std::atomic<bool>& flag) -> task<void> {
      auto legacy = [](std::atomic<bool>& told) -> net::awaitable<void> {
        net::steady_timer never(co_await net::this_coro::executor, 1h);
        told = true;
        co_await never.async_wait(net::use_awaitable);
      };
      co_await net::co_spawn(net::make_strand(at), legacy(flag), use_await);  // as Asio wants it
    }(*in, has_started));
    while (!has_started) co_await net::post(*in, use_await);
    waits.cancel();
    auto end = co_await as_result(std::move(waits));
    EXPECT_TRUE(end.is_cancelled());
  }(io, started));
}

}  // namespace
